"""Sends a call over HTTP, WebSocket or gRPC, and observes the answer."""
