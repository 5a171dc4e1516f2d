"""Who calls PD: keys, their state and their access lists (1:5.4)."""
