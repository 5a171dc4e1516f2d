"""PB's live API: one WebSocket a connection, sessions that outlive it, and closes that say why (1:4.2, 1:3, 2:7.4)."""
