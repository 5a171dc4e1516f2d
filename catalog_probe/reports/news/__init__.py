"""News of what changed on the wire: an Atom feed, and a message for webhooks."""
