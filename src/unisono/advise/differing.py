"""In what the program that was profiled, and its machine, differ from what a tuning was measured with."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence

from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.core.vocabulary import Setting
from unisono.machine.fingerprint import shown
from unisono.mpi.launchers import parse
from unisono.profile.recorded import Profile
from unisono.tuning.contents import Tuning


def differences(tuning: Tuning, profile: Profile) -> list[str]:
    """In what the machine of the profile is not that of the tuning, as far as both say."""
    there = profile.origin.machine
    return [
        _("{name}: {value} when the tuning was measured, {now} when the profile was made").format(
            name=translated(name), value=shown(name, value), now=shown(name, there[name])
        )
        for name, value in tuning.machine.items()
        if name in there and there[name] != value
    ]


def made_under(command: str, launches: Sequence[Setting]) -> Setting | None:
    """The launch setting a command line already has, all of whose words are in it; None: none of these."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    said = set(words) | {f"{name}={value}" for name, value in itertools.pairwise(words)}
    fitting = [launch for launch in launches if launch and all(f"{n}={v}" in said for n, v in launch.items())]
    return max(fitting, key=len, default=None)


def own_settings(command: str) -> list[str]:
    """What a command line sets by itself: its MCA parameters and UCX variables."""
    try:
        line = parse(shlex.split(command))
    except (ValueError, UserError):
        return []
    return [str(o) for o in line.options("mca", "x") if o.name == "mca" or o.values[0].startswith("UCX_")]
