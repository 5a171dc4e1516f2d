"""Which record an answer belongs to."""
