"""What a client leans on, and whether it may: patterns over assertions, answered from evidence."""
