"""The sources of table rows that no section of the documents states."""

CLIENTS = "official clients send or read it"
OURS = "the documents are silent; the mock's choice"
