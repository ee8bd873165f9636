"""The tuning: what a study decided, as a document people read, edit, commit and share.

Everything left of it measures and decides; everything right of it (export, run, verify, report) only reads it.
"""

from unisono.tuning.choice import Lookup, cases_of, choose, lookup
from unisono.tuning.contents import LayoutModel, Tuning
from unisono.tuning.document import read, render, write
from unisono.tuning.stale import stale

__all__ = [
    "LayoutModel",
    "Lookup",
    "Tuning",
    "cases_of",
    "choose",
    "lookup",
    "read",
    "render",
    "stale",
    "write",
]
