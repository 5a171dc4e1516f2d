"""Text and JSON values without meaning of ours: pointers, wildcards, and what a terminal may show."""
