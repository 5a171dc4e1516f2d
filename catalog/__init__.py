"""What four generative-model providers document, and what was last seen of it."""
