"""Unisono: find the fastest way your MPI can communicate, on your machine, for your application, and prove it."""

__version__ = "0.1.0"
