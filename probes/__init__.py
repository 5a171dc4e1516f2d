"""Asking a provider, and judging the answer."""
