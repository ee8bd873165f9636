"""`unisono vcluster`: several nodes on this machine, for trying what needs a cluster."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from unisono.commands.console import out
from unisono.commands.userline import words_of
from unisono.core.language import _
from unisono.vcluster import kept


def up(*, nodes: int, ppn: int, rate: str | None, slow: list[str], slurm: bool) -> None:
    """UserError where it cannot be brought up."""
    cluster = kept.up(nodes, ppn, rate, slow, slurm=slurm)
    lines = [
        _("{count} nodes are up: {hosts}").format(count=nodes, hosts=kept.hosts(cluster)),
        (
            _("Start a job from their login host: unisono vcluster run -- salloc --nodes {nodes} mpirun ./app")
            if slurm
            else _("Run a command on their login host: unisono vcluster run -- mpirun -n {ranks} ./app")
        ).format(nodes=nodes, ranks=nodes * ppn),
        _("End it: unisono vcluster down"),
    ]
    out().print("\n".join(lines), markup=False, soft_wrap=True)


def run(argv: list[str]) -> NoReturn:
    """The command takes this process's place, so its exit status is the command's own. UserError where no cluster is
    up."""
    words = words_of(argv)
    cluster = kept.found()
    sys.stdout.flush()
    line = cluster.wrap(words)
    os.execvpe(line[0], line, {**os.environ, **kept.environment(cluster)})


def down() -> None:
    """Says what it did; nothing to end is no mistake."""
    said = _("The virtual cluster has ended, and nothing of it is left") if kept.down() else _("No cluster was up")
    out().print(said, markup=False)
