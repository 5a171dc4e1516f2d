"""Pure, in process: the inner loop."""
