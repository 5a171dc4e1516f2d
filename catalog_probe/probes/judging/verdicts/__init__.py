"""Verdicts: of one step, of an attempt, and of a record over all its attempts."""
