"""A tuning at work: added to a command line, and proven to help or not."""
