"""PC's WebSocket mode of responses (1:4.3, 1:6, 2:7.5)."""
