"""The pure comparison of one answer with what is documented of it."""
