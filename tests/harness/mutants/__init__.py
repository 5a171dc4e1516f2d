"""Mutants of the mock: one documented behaviour broken, and which records notice. `python -m tests.harness.mutants`."""
