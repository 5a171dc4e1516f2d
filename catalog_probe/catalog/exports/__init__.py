"""The catalog for other tools: OpenAPI."""
