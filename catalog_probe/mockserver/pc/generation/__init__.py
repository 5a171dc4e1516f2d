"""What PC answers to a request: checked, generated, streamed."""
