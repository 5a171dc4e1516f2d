"""Who calls PC: bearer keys, and access tokens exchanged over mutual TLS (1:5.3)."""
