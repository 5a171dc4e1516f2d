"""Reasons for which a mismatch is not the provider's drift."""
