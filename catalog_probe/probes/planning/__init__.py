"""What a run sends here and what not, within which bounds, and on which machine."""
