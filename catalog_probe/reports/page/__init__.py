"""The HTML page of a run, in one file."""
