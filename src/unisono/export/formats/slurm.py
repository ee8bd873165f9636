"""Lines for batch scripts, and a TaskProlog for a whole site, by which srun's tasks get the plan."""

from __future__ import annotations

import shlex

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.reading import read_text
from unisono.export.carried import CARRIED_FILES, by_environment, carried
from unisono.export.content import Content
from unisono.export.environment_check import check_environment
from unisono.export.seen import Item
from unisono.export.slurm_script import read_prolog, read_snippet, write_prolog, write_snippet
from unisono.mpi.family import Family

NAME = "slurm"
LABEL = N_("lines for a Slurm batch script, and a TaskProlog: srun's tasks get the tuning")
SNIPPET = "slurm.sh"
PROLOG = "slurm-task-prolog.sh"
FILES: tuple[str, ...] = (*CARRIED_FILES, SNIPPET, PROLOG)
BY_TUNE = False
TAKES_LIBRARY = False


def read_by(family: Family) -> bool:
    return True


def expresses(content: Content) -> bool:
    return bool(carried(content).variables)


def write(content: Content) -> dict[str, str]:
    found = carried(content)
    policy = content.plan.launch.get("placement")
    not_in = [f"Not in here: placement={policy}; bind the tasks with srun --cpu-bind"] if policy else []
    snippet = f"Use, in a batch script before srun:    . {shlex.quote(str(content.directory / SNIPPET))}"
    prolog = f"Use, in slurm.conf of a site with this MPI alone (chmod +x):    TaskProlog={content.directory / PROLOG}"
    needs = found.paths(content.directory)
    return {
        **found.files,
        SNIPPET: write_snippet(found.variables, content.mpi, [*content.head, *found.notes, *not_in, snippet], needs),
        PROLOG: write_prolog(found.variables, [*content.head, *found.notes, *not_in, prolog]),
    }


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    snippet, prolog = content.directory / SNIPPET, content.directory / PROLOG
    values = read_snippet(read_text(snippet), str(snippet))
    if values != read_prolog(read_text(prolog), str(prolog)):
        raise UserError(_("{snippet} and {prolog} set different variables").format(snippet=snippet, prolog=prolog))
    items, commands = check_environment(content, by_environment(values), deadline)
    reason = N_("the variables were handed over by the MPI's own launcher")
    return [*items, Item("srun", _("hands them over"), _("cannot be seen"), None, reason)], commands
