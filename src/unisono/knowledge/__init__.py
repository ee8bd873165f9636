"""Published tunings, with where they come from."""
