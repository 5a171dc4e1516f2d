"""The catalog for other tools: OpenAPI and CSV."""
