"""Getting samples out of a launch."""
