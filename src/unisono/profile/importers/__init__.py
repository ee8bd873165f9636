"""Profiles that other tools wrote: one module a format."""

from unisono.profile.importers.sniff import import_profile

__all__ = ["import_profile"]
