"""PD's HTTP endpoints (1:4.4)."""
