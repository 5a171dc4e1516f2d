"""PB's live API: WebSocket connections, and the sessions that outlive them (1:3, 1:4.2, 2:7.4)."""
