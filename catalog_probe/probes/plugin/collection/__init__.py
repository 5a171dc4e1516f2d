"""Options, selectors, items and scheduling of a run of probes."""
