"""PC's rate limits and usage tiers (2:8.4)."""
