"""Profiles that other tools wrote: one module a format, all of them in the list of `sniff`."""

from unisono.profile.importers.sniff import import_profile, label_of, title_of

__all__ = ["import_profile", "label_of", "title_of"]
