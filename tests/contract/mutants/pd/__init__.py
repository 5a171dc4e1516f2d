"""Replacements for behaviours of the mock of PD."""
