"""Exchanges as a report shows them, with what differs marked."""
