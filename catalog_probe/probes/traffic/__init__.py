"""Exchanges that were recorded elsewhere, held against the same records by the same rules."""
