"""Provider PA: a messages-style API, with a compliance API and an admin API (1:4.1, 2:7.2, 2:7.3)."""
