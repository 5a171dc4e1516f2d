"""Runs probes: lanes, rate limiting, budget, teardown."""
