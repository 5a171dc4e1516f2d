"""PA's compliance API: what a parent organization can read and delete of its people's work (1:4.1, 2:7.2)."""
