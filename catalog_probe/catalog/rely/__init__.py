"""What a client depends on, and whether the evidence of the records says that it holds."""
