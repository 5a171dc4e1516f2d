"""What all simulated providers share: table rows and their readers, sessions, clock, scenarios, bodies, streams."""
