"""PC's responses WebSocket mode: responses created, steered and injected into over one socket (1:4.3, 1:6, 2:7.5)."""
