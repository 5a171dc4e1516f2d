"""The evidence in a record: cells, tags, and what was confirmed when."""
