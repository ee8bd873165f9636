"""Studies as jobs of a batch system: written, submitted, followed, and put together again."""
