"""Mutants of the mock: one documented behaviour is broken, and the records must notice (`nox -s mutants`)."""
