"""PA's answers to a messages request: checks, generation, streaming."""
