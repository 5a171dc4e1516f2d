"""Reading answers that somebody pasted or recorded."""
