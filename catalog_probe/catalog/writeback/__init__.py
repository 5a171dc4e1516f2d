"""What goes back into the records and beside them: planner, accepted differences, discoveries, atomic writing."""
