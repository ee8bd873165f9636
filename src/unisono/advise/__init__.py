"""Apply a tuning, and prove it."""
