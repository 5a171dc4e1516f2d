"""Exchanges as a report shows them: marked differences, and commands that reproduce them with real names."""
