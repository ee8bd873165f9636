"""What to use on numbers of nodes that were not measured: models per algorithm, and how far they are trusted."""
