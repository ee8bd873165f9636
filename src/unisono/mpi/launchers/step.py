"""Launches by srun in place of an MPI's own launcher, as steps of a Slurm job, whatever the MPI.

srun takes no words of the MPI: what a setting asks for goes through the environment, all of which it hands on.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.mpi.launchers import srun
from unisono.mpi.launchers.launcher import Launcher
from unisono.mpi.places import Placed

LAUNCHER: Launcher = srun
_OURS = (
    *srun.PLACING,
    *("N", "nodes", "w", "nodelist", "O", "overcommit", "export", "i", "input", "o", "output"),
)
"""Options that say what a study varies, or what our program needs; without their dashes."""


_PROGRAM = "unisono-bench"
"""Stands where the program will, which a complete line has."""


def parse(text: str) -> list[str]:
    """The words of `--launcher "srun --mpi=pmix"`. Raises UserError for another launcher, and for options that are not
    the user's to give here."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(_("--launcher {text!r}: {error}").format(text=text[:80], error=error)) from error
    if not words or not srun.is_it(words[0]):
        raise UserError(
            _("--launcher {text!r}: begin with srun, as in 'srun --mpi=pmix'; an mpirun is named with --mpirun").format(
                text=text[:80]
            )
        )
    (line,) = srun.parse([*words, _PROGRAM]).contexts
    taken = next((option for option in line.options if option.name in _OURS), None)
    if taken is not None:
        raise UserError(
            _("--launcher: {word} is an option that a study sets itself; leave it out").format(word=str(taken)[:80])
        )
    if line.program != (_PROGRAM,):
        raise UserError(_("--launcher: {word} is no option of srun; leave it out").format(word=line.program[0][:80]))
    return words


def binds(config: str) -> bool:
    """Whether Slurm can bind ranks: of what `scontrol show config` prints."""
    plugins = re.search(r"^TaskPlugin\s*=\s*(.*)$", config, re.MULTILINE)
    return plugins is None or bool(re.search(r"affinity|cgroup", plugins[1]))


def in_job(environment: Mapping[str, str]) -> bool:
    return any(environment.get(name) for name in ("SLURM_JOB_ID", "SLURM_JOBID"))


def require_job(environment: Mapping[str, str]) -> None:
    """Raises UserError where there is no job to start ranks in: outside of one srun would ask for a job each time."""
    if not in_job(environment):
        raise UserError(
            _("--launcher srun: there is no job here; run it within salloc or sbatch, or add --submit slurm")
        )


def words_of(argv: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """What starts ranks as a user's line does, where that is an srun within a job: srun and its --mpi. Else nothing."""
    if not argv or not srun.is_it(argv[0]) or not in_job(environment):
        return []
    try:
        kind = srun.parse(argv).value("mpi")
    except UserError:
        return []
    return [argv[0], *([f"--mpi={kind}"] if kind else [])]


def options(placement: Placed, hosts: Sequence[str]) -> list[str]:
    """Options for the ranks of a placement on these hosts.

    Rank 0 alone hears what is written to srun. The step shares its job's CPUs, memory and devices with the step that
    measures, if there is one (a batch script's, or that of salloc), and with a step that is being ended. Ranks can be
    bound in jobs that have whole nodes, with task/affinity or task/cgroup among Slurm's TaskPlugin (`binds`).
    """
    words = [
        *(f"--nodes={placement.nodes}", f"--nodelist={','.join(hosts)}"),
        *(f"--ntasks={placement.nodes * placement.ppn}", f"--ntasks-per-node={placement.ppn}"),
        *("--export=ALL", "--input=0", "--overlap", "--kill-on-bad-exit=1"),
        f"--distribution={'cyclic' if placement.over_nodes else 'block'}",
    ]
    if placement.oversubscribed:
        return [*words, "--overcommit", "--cpu-bind=none"]
    if placement.policy is None:
        return words
    masks = ",".join(f"{sum(1 << cpu for cpu in slot.cpus):#x}" for slot in placement.slots)
    return [*words, f"--cpu-bind=mask_cpu:{masks}"]
