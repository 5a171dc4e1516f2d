"""What a recipe can send: calls, their bodies, and conversations on a WebSocket."""
