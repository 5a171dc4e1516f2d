"""Queries over records."""
