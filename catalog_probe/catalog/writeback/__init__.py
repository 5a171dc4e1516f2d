"""What goes back into the records and beside them: planner, ledger, discoveries, atomic writing."""
