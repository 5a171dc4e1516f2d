"""What changed on the wire, as an Atom feed and as a message."""
