"""Several runs beside each other: what each saw of the same records, and what differs between them."""
