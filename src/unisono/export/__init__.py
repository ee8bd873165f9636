"""One writer a format."""
