"""The line that a user gives behind --."""

from __future__ import annotations

import pytest

from unisono.commands.userline import words_of
from unisono.core.errors import UserError


def test_it_begins_behind_the_dashes() -> None:
    assert words_of(["--", "mpirun", "-n", "2", "./a"]) == words_of(["mpirun", "-n", "2", "./a"])


@pytest.mark.parametrize(("argv", "said"), [([], "after --"), (["--"], "after --"), (["--dry-run"], "no such option")])
def test_what_is_no_command_is_refused(argv: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        words_of(argv)
