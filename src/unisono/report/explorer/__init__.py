"""The explorer: a profile as one HTML page with Cube's three panes, offline."""
