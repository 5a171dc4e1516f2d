"""Inconclusive rules: reasons for which a mismatch is not the provider's."""
