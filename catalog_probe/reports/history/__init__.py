"""The history of a target: one line per run, and the drift periods that these lines show."""
