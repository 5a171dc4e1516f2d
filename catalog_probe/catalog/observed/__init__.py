"""What evidence a record holds: its cells, tags, and when it was last confirmed."""
