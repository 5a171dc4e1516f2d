"""The catalog: what the providers document, and what was last observed of it."""
