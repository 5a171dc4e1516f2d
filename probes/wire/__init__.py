"""Sending a call and observing the answer: capped, classified, translated, redacted before it leaves here."""
