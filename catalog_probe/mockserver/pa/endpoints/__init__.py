"""PA's endpoints outside the compliance API (1:4.1)."""
