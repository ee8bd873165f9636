"""What a proof was made of: a tuning's choices, by which they are recognised in what was decided later."""

from __future__ import annotations

import hashlib
import json

from unisono.tuning.choice import choose
from unisono.tuning.contents import Tuning

KEY = "verification of"
"""Kept with a study's proof: `choices` of the tuning it proves."""


def choices(tuning: Tuning) -> str:
    """A digest of what is used on the ranks that were measured: launch settings and rules, whatever they gained."""
    plans = [choose(tuning, nodes, ppn) for nodes, ppn in tuning.cases()]
    said = [
        [plan.nodes, plan.ppn, dict(plan.launch), [[r.collective, r.first, r.last, dict(r.call)] for r in plan.rules]]
        for plan in plans
    ]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
