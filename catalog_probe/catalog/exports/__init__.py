"""The catalog for other tools: OpenAPI 3.1, and a table."""
