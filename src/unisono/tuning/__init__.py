"""The tuning: what a study decided, as a document people read, edit, commit and share.

Everything left of it measures; everything right of it (export, run, verify, report) only reads it.
"""

from unisono.tuning.build import from_decision
from unisono.tuning.choice import Lookup, cases_of, choose, lookup
from unisono.tuning.contents import LayoutModel, Tuning
from unisono.tuning.document import read, render, write
from unisono.tuning.plans import Gain, PlanModel, RuleModel
from unisono.tuning.stale import stale

__all__ = [
    "Gain",
    "LayoutModel",
    "Lookup",
    "PlanModel",
    "RuleModel",
    "Tuning",
    "cases_of",
    "choose",
    "from_decision",
    "lookup",
    "read",
    "render",
    "stale",
    "write",
]
