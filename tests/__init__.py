"""The project's own tests: unit, contract, system."""
