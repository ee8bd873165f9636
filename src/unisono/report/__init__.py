"""Charts and pages."""
