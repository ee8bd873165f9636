"""Tunings others have published, with where they come from: shown beside results, never mixed into them."""

from unisono.knowledge.published import Effect, Proof, Published, Range, Source, find, published

__all__ = ["Effect", "Proof", "Published", "Range", "Source", "find", "published"]
