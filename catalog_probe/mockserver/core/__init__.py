"""What all simulated providers share: tables and what reads them, sessions, time, scenarios, bodies, streams."""
