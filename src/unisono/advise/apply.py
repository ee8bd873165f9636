"""A tuning added to a user's own command line: `unisono run`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unisono.cmdline.command import Command
from unisono.cmdline.job import describe_job, launcher_in
from unisono.cmdline.preload import launcher_of, with_variables
from unisono.cmdline.rewrite import with_setting
from unisono.core.cache import cache
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.version import at_least
from unisono.core.vocabulary import MPICH
from unisono.core.writing import write
from unisono.export import dispatch, mpich_files, preset_file
from unisono.export import tuned_rules as rules
from unisono.export import tuned_rules_json as rules_json
from unisono.export.content import Content
from unisono.export.provenance import provenance
from unisono.export.serving import with_its_launch
from unisono.export.words import plan_words, rules_words
from unisono.library.recorder import recorder
from unisono.machine.description import Machine
from unisono.mpi.found import linked_library
from unisono.parameters.spelling import require_mpi
from unisono.profile.diagnose import mismatch, other_library
from unisono.tuning.choice import choose, foretold, nearest_case, unmeasured
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan
from unisono.tuning.stale import stale_notes
from unisono.tuning.words import SIMULATED

RULES_VARIABLE = "UNISONO_RULES"
"""Names the rules file of our library to it."""
_USERS = (
    "UNISONO_AGREED",
    "UNISONO_COLLECTIVES",
    "UNISONO_FORCE",
    "UNISONO_PATIENCE",
    "UNISONO_REPRODUCIBLE",
    "UNISONO_REQUIRED",
    "UNISONO_SHARED_MEMORY",
    "UNISONO_START_SECONDS",
    "UNISONO_TOPOLOGY",
    "UNISONO_VERBOSE",
)
"""What a user may set for the library: launchers take none of it to other nodes by themselves, and it must be the same
on all ranks."""

Progress = Callable[[str], None] | None
"""Hears of a build."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What a tuning means for one command line."""

    plan: Plan
    rules_file: Path | None
    """Of coll/tuned."""
    extra_mca: Mapping[str, str]
    """The MCA parameters that name the rules file, that give nonblocking collectives an algorithm, or that our library
    needs, for launches of the plan; with MPICH the variables that name its selection files or force an algorithm."""
    notes: tuple[str, ...]
    """What the plan's words cannot do, and where the tuning does not fit; one sentence each."""
    serving_file: Path | None = None
    """The rules of our own library, which the ranks then need."""

    @property
    def is_default(self) -> bool:
        """Whether nothing at all is set."""
        return self.plan.launch.is_default and not self.extra_mca and self.serving_file is None

    def serving(self, line: Command, machine: Machine, env: Mapping[str, str], progress: Progress = None) -> Command:
        """The command line with our library and its rules in the ranks, where the plan needs them.

        The library is built on first use (`progress` gets a sentence then). Raises UserError when it cannot be, and as
        profile.preload.with_variables does.
        """
        if self.serving_file is None:
            return line
        launcher = launcher_of(line.argv)
        library = recorder(require_mpi(machine).mpicc, progress)
        users = {name: env[name] for name in _USERS if env.get(name) and not _is_said(line.argv, name)}
        variables = {RULES_VARIABLE: str(self.serving_file), **users}
        added = with_variables(line.argv, launcher, library, variables, {**env, **line.env})
        return replace(line, argv=added.argv, env={**line.env, **added.env}, notes=[*line.notes, *added.notes])


def _is_said(argv: Sequence[str], name: str) -> bool:
    """Whether a command line hands on a variable itself (-x NAME, -genv NAME VALUE ...)."""
    return any(word == name or word.startswith(f"{name}=") for word in argv)


def apply(
    tuning: Tuning,
    argv: Sequence[str],
    machine: Machine,
    weights: Mapping[str, float] | None = None,
    env: Mapping[str, str] | None = None,
    progress: Progress = None,
) -> Command:
    """`argv` (mpirun ... or srun ...) with the plan for its number of ranks, or the nearest that was measured.

    The rules file is written where it outlives the run and other nodes see it: the user's cache directory. `env`
    stands for os.environ. Raises UserError for a command line that cannot be understood, for a program of another MPI
    than its launcher, and as `Applied.serving`.
    """
    return resolve(tuning, argv, machine, weights, env, progress)[0]


def resolve(
    tuning: Tuning,
    argv: Sequence[str],
    machine: Machine,
    weights: Mapping[str, float] | None = None,
    env: Mapping[str, str] | None = None,
    progress: Progress = None,
) -> tuple[Command, Applied]:
    """The same, and what it was made of."""
    environment = os.environ if env is None else env
    job = describe_job(argv, machine, env)
    case = nearest_case(tuning, job.nodes, job.ppn)
    notes: list[str] = []
    if case != (job.nodes, job.ppn):
        notes.append(unmeasured(tuning, case, job.nodes, job.ppn))
    applied = apply_plan(tuning, choose(tuning, *case, weights), machine)
    if applied.plan.predicted:
        notes.append(foretold(tuning, applied.plan))
    if not applied.is_default:
        notes += _of_another_mpi(argv, machine)
    line = with_setting(argv, applied.plan.launch, machine, applied.extra_mca, env)
    line = applied.serving(line, machine, environment, progress)
    if applied.is_default and not applied.notes:
        notes.append(
            N_("no prediction is sure enough to replace the default on these ranks; nothing is added to the command")
            if applied.plan.predicted
            else N_(
                "the default is the best setting that was measured for these ranks; nothing is added to the command"
            )
        )
    if tuning.simulated:
        notes.append(N_("this tuning is {simulated}; unisono verify proves it here").format(simulated=SIMULATED))
    return replace(line, notes=[*stale_notes(tuning, machine), *notes, *applied.notes, *line.notes]), applied


def _of_another_mpi(argv: Sequence[str], machine: Machine) -> list[str]:
    """A note where the line's program may use another version of the MPI than its launcher: what is set there need not
    exist in that one, or may mean something else. Raises UserError where it is another MPI altogether."""
    mpi, found = require_mpi(machine), launcher_in(argv, machine).program(argv)
    program = Path(found) if found is not None else None
    file = linked_library(mpi.mpicc, mpi.root) if program is not None else None
    own = (mpi.traits.LIBRARY, file.resolve()) if file is not None else None
    if wrong := mismatch(program, own):
        raise UserError(wrong)
    return [doubt] if (doubt := other_library(program, own)) else []


def apply_plan(tuning: Tuning, plan: Plan, machine: Machine) -> Applied:
    """The plan's rules as a file and the words that name it. Raises UserError as plan_words does, and when the file
    cannot be kept."""
    words = plan_words(tuning, plan, machine)
    head = provenance(tuning, plan)
    path = _keep(_rules_text(words.rules, head, machine)) if words.rules else None
    serving = _keep(dispatch.write(words.serving, head)) if words.serving else None
    extra_mca = {**words.serving_mca, **words.nonblocking, **(rules_words(path) if path else {})}
    content = Content(tuning, plan, machine, words, cache_folder())
    variables, notes = _presets(content) if content.mpi.traits.PRESET_FILE else _selection(content)
    return Applied(plan, path, {**extra_mca, **variables}, (*words.notes, *notes), serving)


def _presets(content: Content) -> tuple[dict[str, str], Sequence[str]]:
    """The variable of Intel MPI's file for the plan's rules, the file kept, and what it cannot say."""
    found = preset_file.compile_presets(with_its_launch(content.tuning, content.plan), content.mpi)
    variables = {preset_file.VARIABLE: str(_keep(found.text, ".json"))} if found.tree else {}
    return variables, found.notes


def _selection(content: Content) -> tuple[dict[str, str], Sequence[str]]:
    """MPICH's variables for the plan's rules, its selection files kept, and what these cannot say."""
    if not any(rule.call.get("coll") == MPICH for rule in content.plan.rules):
        return {}, ()
    if not content.mpi.traits.SELECTION_FILES:
        left_out = N_("rules that name algorithms of MPICH are left out, because this is {name} {version}")
        return {}, (left_out.format(name=content.mpi.name, version=content.mpi.version),)
    try:
        found = mpich_files.selection(content)
    except UserError as error:
        return {}, (N_("rules that name algorithms of MPICH are left out: {error}").format(error=error),)
    texts = mpich_files.selection_files(found)
    files = {mpich_files.FILES[name]: str(_keep(text, ".json")) for name, text in texts.items()}
    return {**files, **mpich_files.by_variables(content)}, found.notes


def _rules_text(found: rules.RulesFile, head: list[str], machine: Machine) -> str:
    if at_least(require_mpi(machine).version, rules_json.SINCE):
        return rules_json.write(found)
    return rules.write(found, head)


def _keep(text: str, ending: str = ".conf") -> Path:
    """A rules file, named by its content: the same rules are one file, and no run's file changes under it."""
    path = cache_folder() / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}{ending}"
    return write(path, text, _("set XDG_CACHE_HOME to a directory that can"))


def cache_folder() -> Path:
    """Where rules files are kept."""
    return cache() / "rules"
