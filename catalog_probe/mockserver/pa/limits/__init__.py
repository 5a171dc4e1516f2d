"""PA's rate limits, special capacity and spending limits (2:8.2)."""
