"""Pacing: the rate limits, budgets and pauses that bound what lanes send."""
