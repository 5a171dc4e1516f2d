"""PB's live API: connections and sessions (1:3, 1:4.2, 2:7.4)."""
