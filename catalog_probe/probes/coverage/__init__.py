"""What of the documents the probes observe, by whom it can be observed, and what one more key would add."""
