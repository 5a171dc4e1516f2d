"""PB's HTTP endpoints (1:4.2)."""
