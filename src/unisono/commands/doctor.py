"""`unisono doctor`."""

from __future__ import annotations

from unisono.commands.console import out, print_json
from unisono.commands.leftovers import remove_leftovers
from unisono.launch.hosts import parse_hosts
from unisono.machine.describe import describe
from unisono.parameters.doctor import doctor_json, print_doctor


def doctor(*, json: bool, mpirun: str | None, mpicc: str | None, hosts: str | None) -> None:
    """Describe this machine on stdout, without what killed launches left in its memory. Raises UserError when there is
    no MPI to describe."""
    remove_leftovers()
    machine = describe(mpirun, mpicc, parse_hosts(hosts) if hosts is not None else None)
    if json:
        print_json(doctor_json(machine))
    else:
        print_doctor(machine, out())
