"""What PA answers to a messages request: checked, generated, streamed."""
