"""Provider PC: a responses and chat-completions API with typed error codes, and its mutual-TLS host (1:4.3, 2:7.5)."""
