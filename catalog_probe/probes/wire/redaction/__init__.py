"""Hides secrets in what is kept or shown of exchanges: a fixed list of forms, and work that is linear and bounded."""
