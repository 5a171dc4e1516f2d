"""What all simulated providers share: routing, sessions, time, token buckets, scenarios, request bodies."""
