"""`catalog-probe target`: is a target ready, what does it cover, and what did runs leave behind."""
