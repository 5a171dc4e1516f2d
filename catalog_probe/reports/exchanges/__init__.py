"""Exchanges as a report shows them: marked differences, real names, and commands that reproduce them."""
