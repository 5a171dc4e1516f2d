"""Provider PA: a messages-style API, a compliance API and an admin API (1:4.1)."""
