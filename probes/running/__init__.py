"""Runs probes: lanes, pace, budget, teardown."""
