"""What pytest collects and schedules: options, selectors, items, and what xdist workers are given."""
