"""From files to records, and from a record to what it states: the only reader of what records state."""
