"""Figures and pages: one HTML file that opens offline."""
