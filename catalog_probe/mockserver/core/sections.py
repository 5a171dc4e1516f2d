"""What a row of a table names as its source, where that is no section of the documents such as `2:7.6`."""

CLIENTS = "official clients send or read it"
OURS = "the documents are silent; the mock's choice"
