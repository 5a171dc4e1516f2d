"""Where the providers are, what the stand-ins stand for there, with which keys, and what is allowed."""
