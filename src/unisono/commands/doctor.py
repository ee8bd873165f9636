"""`unisono doctor`."""

from __future__ import annotations

from pathlib import Path

from unisono.cmdline.hosts import parse_hosts
from unisono.commands.console import out, print_json
from unisono.commands.leftovers import remove_leftovers
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.inventory.describe import describe
from unisono.parameters.doctor import doctor_json, print_doctor
from unisono.study.config import parse_duration

_FABRIC_SECONDS = 60.0


def doctor(
    *,
    json: bool,
    mpirun: str | None,
    mpicc: str | None,
    hosts: str | None,
    fabric: bool,
    output: Path | None,
    budget: str | None,
    drain_reason: bool,
    reframe: bool,
) -> int:
    """Describe this machine on stdout, without what killed launches left in its memory, or measure between its nodes.

    The exit status. Raises UserError when there is no MPI to describe.
    """
    if fabric:
        from unisono.commands.fabric import Wishes
        from unisono.commands.fabric import fabric as measure

        seconds = parse_duration(budget, "--budget") if budget is not None else _FABRIC_SECONDS
        wishes = Wishes(output or Path("unisono-out"), seconds, drain_reason, reframe, json)
        return measure(wishes, mpirun=mpirun, mpicc=mpicc, hosts=hosts)
    given = {"--output": output, "--budget": budget, "--drain-reason": drain_reason, "--reframe": reframe}
    for option, value in given.items():
        if value:
            raise UserError(
                _("{option}: is only used with --fabric, which measures between nodes").format(option=option)
            )
    remove_leftovers()
    machine = describe(mpirun, mpicc, parse_hosts(hosts) if hosts is not None else None)
    if json:
        print_json(doctor_json(machine))
    else:
        print_doctor(machine, out())
    return 0
