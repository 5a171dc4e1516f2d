"""PC's HTTP endpoints (1:4.3)."""
