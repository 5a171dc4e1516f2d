"""Recorded exchanges, compared with the same records by the same rules."""
