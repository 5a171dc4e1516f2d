"""Provider PC: responses, chat completions, mutual-TLS host (1:4.3, 2:7.5)."""
