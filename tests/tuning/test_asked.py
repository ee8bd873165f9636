"""Which ranks are meant where a command line does not say it whole."""

from __future__ import annotations

import pytest

from tests.tuning.samples import plan, tuning
from unisono.core.errors import UserError
from unisono.tuning.asked import case_of


def test_what_is_not_said_is_what_was_measured() -> None:
    one = tuning(plan(1, 2))
    assert case_of(one, None, None) == (1, 2)
    assert case_of(one, None, 4) == (1, 4), "there is one number of nodes, and run would take it, too"
    assert case_of(one, 2, None) == (2, 2)
    several = tuning(plan(1, 2), plan(1, 4), plan(2, 4))
    assert case_of(several, 2, None) == (2, 4)
    assert case_of(several, None, 2) == (1, 2)
    for nodes, ppn in ((None, None), (None, 4), (4, None)):
        with pytest.raises(UserError, match="choose one with --nodes and --ppn"):
            case_of(several, nodes, ppn)
