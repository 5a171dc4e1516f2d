"""Small clients, each with the rely.toml that its author wrote; what is derived from its traffic is the same."""
