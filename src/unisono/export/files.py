"""Writing a tuning in the forms an MPI, or our own library, reads: `unisono export`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from unisono.errors import UserError
from unisono.export import arguments, dispatch, keyval, rules, rules_json, shell
from unisono.export.provenance import MADE_BY, provenance
from unisono.export.seal import is_edited, sealed
from unisono.export.words import PlanWords, plan_words
from unisono.language import N_, _
from unisono.launch.placement import place
from unisono.library.recorder import LIBRARY_NAME
from unisono.machine.model import Machine
from unisono.machine.version import at_least
from unisono.parameters.spelling import require_mpi
from unisono.reading import open_regular
from unisono.tuning.choice import without_library
from unisono.tuning.model import PlanModel, Tuning
from unisono.writing import write

RULES = "openmpi-rules.conf"
JSON_RULES = "openmpi-rules.json"
"""The same for Open MPI 6."""
MCA = "openmpi-mca-params.conf"
UCX = "ucx.conf"
SHELL = "env.sh"
ARGUMENTS = "mpirun.txt"
SERVING = "unisono-rules.conf"
OURS = "rules"
"""The format that our own library reads."""

_NAMES = {
    "openmpi": (RULES, MCA),
    "ucx": (UCX,),
    "shell": (RULES, SHELL),
    "mpirun": (RULES, ARGUMENTS),
    OURS: (SERVING,),
}
"""Format -> the files it may consist of."""


def export(
    tuning: Tuning, format: str, plan: PlanModel, machine: Machine, directory: Path, keep: Collection[Path] = ()
) -> list[Path]:
    """Writes the files of one format into `directory` and returns their paths. Files in `keep` are left as they are.

    A plan that needs our library can only be written for it (`exportable` gives the one for the others). Raises
    UserError for an unknown format, for what this machine's MPI has no word for, and when the directory cannot be
    written.
    """
    writer = _WRITERS.get(format)
    if writer is None:
        raise UserError(
            _("format: {format!r} is unknown; known: {writers}").format(format=format, writers=", ".join(_WRITERS))
        )
    if format not in formats(machine):
        name = require_mpi(machine).name
        raise UserError(
            _("format {format}: is Open MPI's; for {name} there is {machine}").format(
                format=format, name=name, machine=", ".join(formats(machine))
            )
        )
    if plan.needs_library and format != OURS:
        raise UserError(
            _("format {format}: this plan needs our library; export it with --format {ours}").format(
                format=format, ours=OURS
            )
        )
    words = plan_words(tuning, plan, machine)
    directory = directory.absolute()
    texts = writer(words, [*provenance(tuning, plan), *words.notes, ""], plan, machine, directory)
    paths = [directory / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        if path not in keep:
            # JSON has no comments, so nothing tells an edited file.
            write(path, text if path.name == JSON_RULES else sealed(text))
    for name in (RULES, JSON_RULES):
        if name not in texts and format not in ("ucx", OURS) and directory / name not in keep:
            _remove_ours(directory / name)
    return paths


def edited(format: str, directory: Path) -> list[Path]:
    """The files of an earlier export of this format that were edited since."""
    return [path for name in _NAMES.get(format, ()) if is_edited(path := directory.absolute() / name)]


_JSON_BEGINS = b'{\n "rule_file_version": 3,'


def _remove_ours(path: Path) -> None:
    """A rules file of an earlier export, which nothing names any more."""
    try:
        if path.is_file() and _begins(path, _JSON_BEGINS if path.name == JSON_RULES else MADE_BY.encode()):
            path.unlink()
    except OSError as error:
        raise UserError(
            _("{path}: cannot be removed: {strerror}").format(path=path, strerror=error.strerror)
        ) from error


def _begins(path: Path, with_: bytes) -> bool:
    with open_regular(path) as file:
        return file.read(len(with_)) == with_


def formats(machine: Machine) -> tuple[str, ...]:
    """Those that this machine's MPI, or our library in it, reads."""
    return (OURS,) if require_mpi(machine).is_hydra else FORMATS


def exportable(
    tuning: Tuning, plan: PlanModel, format: str, weights: Mapping[str, float] | None = None
) -> tuple[PlanModel, list[str]]:
    """The plan that a format can say, and a sentence when it is not the one given.

    What the MPI's own files cannot express, because it takes our library, becomes the best plan without it.
    """
    if not plan.needs_library or format == OURS:
        return plan, []
    instead = without_library(tuning, plan.nodes, plan.ppn, weights)
    if instead is None:
        raise UserError(
            _("format {format}: all plans of {name} need our library; export with --format {ours}").format(
                format=format, name=tuning.name, ours=OURS
            )
        )
    lost = [
        f"{name} {gain} instead of {plan.gain[name]}"
        for name, gain in instead.gain.items()
        if name in plan.gain and plan.gain[name].mid > gain.mid
    ]
    return instead, [
        N_(
            "The best plan needs our library (unisono run, or --format rules), which no file of "
            "the MPI can ask for: this is the best without it, {launch}"
        ).format(launch=instead.launch)
        + (f"; gains {', '.join(lost)}" if lost else "")
    ]


def caveats(tuning: Tuning, plan: PlanModel, machine: Machine) -> list[str]:
    """What the exported files cannot do; one sentence each. The files say the same in their comments."""
    return list(plan_words(tuning, plan, machine).notes)


def _rules(words: PlanWords, head: list[str], machine: Machine) -> dict[str, str]:
    if not words.rules:
        return {}
    if _rules_name(machine) == JSON_RULES:
        return {JSON_RULES: rules_json.write(words.rules)}
    return {RULES: rules.write(words.rules, head)}


def _rules_name(machine: Machine) -> str:
    return JSON_RULES if at_least(require_mpi(machine).version, rules_json.SINCE) else RULES


def _openmpi(words: PlanWords, head: list[str], plan: PlanModel, machine: Machine, directory: Path) -> dict[str, str]:
    comments = [
        *head,
        "Open MPI reads this when it is ~/.openmpi/mca-params.conf, or etc/openmpi-mca-params.conf of its",
        "installation, or when OMPI_MCA_mca_base_param_files names it (several: with commas; the first wins).",
    ]
    if words.rules:
        comments.append(
            f"It names {_rules_name(machine)} by its full path: a rules file that is not found is ignored in silence."
        )
    if words.env:
        comments.append(f"Not in here: {', '.join(words.env)}; export with --format ucx or shell for those.")
    comments += _placement_comment(plan, machine)
    values = words.mca_with_rules(directory / _rules_name(machine))
    return {**_rules(words, head, machine), MCA: keyval.write_mca(values, comments)}


def _ucx(words: PlanWords, head: list[str], plan: PlanModel, machine: Machine, directory: Path) -> dict[str, str]:
    ours = {name: value for name, value in words.env.items() if name.startswith("UCX_")}
    comments = [
        *head,
        "UCX reads this when it is etc/ucx/ucx.conf of its installation, ~/ucx.conf, or ucx.conf in the current",
        "directory or in the one UCX_CONFIG_DIR names. A variable of the environment wins over it.",
    ]
    others = {**words.mca, **{name: value for name, value in words.env.items() if name not in ours}}
    if others or words.rules:
        comments.append("Not in here: what is Open MPI's; export with --format openmpi, shell or mpirun for that.")
    return {UCX: keyval.write_ucx(ours, comments)}


def _shell(words: PlanWords, head: list[str], plan: PlanModel, machine: Machine, directory: Path) -> dict[str, str]:
    rules_path = directory / _rules_name(machine)
    mca = {f"OMPI_MCA_{name}": value for name, value in words.mca_with_rules(rules_path).items()}
    comments = [*head, *_placement_comment(plan, machine)]
    if words.env and plan.nodes > 1:
        comments.append(f"mpirun takes these to other nodes only when told: {_dash_x(words.env)}")
    text = shell.write({**mca, **words.env}, comments, needs=[str(rules_path)] if words.rules else [])
    return {**_rules(words, head, machine), SHELL: text}


def _mpirun(words: PlanWords, head: list[str], plan: PlanModel, machine: Machine, directory: Path) -> dict[str, str]:
    comments = [*head, f"Use:    eval mpirun \"$(grep -v '^#' {ARGUMENTS})\" -n {plan.ranks} ./your-program"]
    placed = _placement_words(plan, machine)
    line = arguments.words(words.mca_with_rules(directory / _rules_name(machine)), words.env, placed)
    return {**_rules(words, head, machine), ARGUMENTS: arguments.write(line, comments)}


def _placement_words(plan: PlanModel, machine: Machine) -> list[str]:
    policy = plan.launch.get("placement")
    if policy is None:
        return []
    placement = place(machine, plan.nodes, plan.ppn, policy, oversubscribe=True)
    return placement.arguments(require_mpi(machine), [node.host for node in machine.nodes[: plan.nodes]])


def _placement_comment(plan: PlanModel, machine: Machine) -> list[str]:
    policy = plan.launch.get("placement")
    if policy is None:
        return []
    try:
        placed = " ".join(_placement_words(plan, machine))
    except UserError:  # Written for other nodes than the ones known here: the policy still says what is meant.
        placed = "the words for it"
    return [f"Not in here: placement={policy}; give mpirun {placed}"]


def _dash_x(env: Mapping[str, str]) -> str:
    return " ".join(f"-x {name}" for name in env)


def _serving(words: PlanWords, head: list[str], plan: PlanModel, machine: Machine, directory: Path) -> dict[str, str]:
    comments = [
        *head,
        "Our library reads this when it is in the ranks and UNISONO_RULES names this file; unisono run does both:",
        f"    mpirun -x LD_PRELOAD=.../{LIBRARY_NAME} -x UNISONO_RULES={directory / SERVING} ...",
        "UNISONO_VERBOSE=1 lists at the end which implementation served how many calls.",
    ]
    rest = arguments.words(words.mca, words.env, [])
    if rest or plan.launch.get("placement"):
        comments.append(
            N_("The plan also wants, which is not in here: {rest}").format(rest=shlex.join(rest)).rstrip(": ")
        )
        comments += _placement_comment(plan, machine)
    if words.rules:
        comments.append("Rules for other collectives are coll/tuned's own; unisono run gives it those too.")
    return {SERVING: dispatch.write(words.serving or dispatch.Rules(()), comments)}


_WRITERS: dict[str, Callable[[PlanWords, list[str], PlanModel, Machine, Path], dict[str, str]]] = {
    "openmpi": _openmpi,
    "ucx": _ucx,
    "shell": _shell,
    "mpirun": _mpirun,
    OURS: _serving,
}

FORMATS = tuple(_WRITERS)
