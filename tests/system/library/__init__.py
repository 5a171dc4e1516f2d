"""The library and its examples against a mock over the wire."""
