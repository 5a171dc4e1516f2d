"""PA's credentials: keys, bearer tokens and signed requests (1:5.1)."""
