"""PB's quotas, and what billing and region forbid (2:7.4, 2:8.3)."""
