"""PA's compliance API: a parent organization reads and deletes data (1:4.1, 2:7.2)."""
