"""Who calls PB: API keys, OAuth tokens and ephemeral tokens (1:5.2)."""
