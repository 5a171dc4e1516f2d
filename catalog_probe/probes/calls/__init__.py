"""What can be sent: calls, conversations on a WebSocket, bodies."""
