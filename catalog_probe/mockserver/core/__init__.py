"""What all providers share: table rows, sessions, clock, scenarios, bodies, streams."""
