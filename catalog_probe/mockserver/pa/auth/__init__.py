"""Who calls PA: keys, bearer tokens and signed requests (1:5.1)."""
