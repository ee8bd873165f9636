"""Plan, search, store, resume."""
