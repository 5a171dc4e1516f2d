"""Hides secrets in what is kept or shown."""
