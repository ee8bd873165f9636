"""Statistics, selection, size ranges, findings."""
