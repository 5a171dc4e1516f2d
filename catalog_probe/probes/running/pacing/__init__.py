"""How fast and how much a lane may send: rate limits, budgets and throttling."""
