"""What stands in the place of behaviours of the mock of PA."""
