"""Writing a tuning in the forms an MPI, or our own library, reads: `unisono export`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.reading import open_regular
from unisono.core.writing import write
from unisono.export.carried import JSON_RULES, RULES
from unisono.export.content import Content, OpenStudy, content_of
from unisono.export.formats import FORMATS, Format, han, library, named, reframe, rules
from unisono.export.provenance import MADE_BY
from unisono.export.seal import is_edited, sealed
from unisono.export.words import plan_words
from unisono.machine.description import Machine, mpi_name
from unisono.mpi import FAMILIES
from unisono.parameters.spelling import require_mpi
from unisono.tuning.choice import foretold, without_library
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan, gain_words

OURS = rules.NAME
"""The format that our own library reads."""


def export(
    tuning: Tuning,
    format: str,
    plan: Plan,
    machine: Machine,
    directory: Path,
    keep: Collection[Path] = (),
    study: OpenStudy | None = None,
) -> list[Path]:
    """Writes the files of one format into `directory` and returns their paths. Files in `keep` are left as they are.

    A plan that needs our library can only be written for it (`exportable` gives the one for the others). Raises
    UserError for an unknown format, for what this machine's MPI has no word for, and when the directory cannot be
    written.
    """
    writer = _writer(format, tuning, plan, machine)
    if plan.needs_library and not writer.TAKES_LIBRARY:
        raise UserError(
            _("format {format}: this plan needs our library; export it with --format {ours}").format(
                format=format, ours=OURS
            )
        )
    content = content_of(tuning, plan, machine, directory, study)
    texts = writer.write(content)
    paths = [content.directory / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        if path not in keep:
            write(path, sealed(path, text) if isinstance(text, str) else text)
    for name in (RULES, JSON_RULES):
        if name not in texts and RULES in writer.FILES and content.directory / name not in keep:
            _remove_ours(content.directory / name)
    return paths


def unsaid(tuning: Tuning, format: str, plan: Plan, machine: Machine, directory: Path) -> list[str]:
    """A sentence where the plan has nothing that the format can say.

    What `tune` writes is written all the same: it takes the place of an earlier export. Raises UserError, with what to
    do, for the other formats.
    """
    writer = _writer(format, tuning, plan, machine)
    content = content_of(tuning, plan, machine, directory)
    if writer.expresses(content):
        return []
    setting = (other for other in _of(machine) if other is not reframe)  # which only compares times
    others = ", ".join(other.NAME for other in setting if _expresses(other, content))
    here = f"{plan.nodes} x {plan.ppn} ranks, {plan.launch}"
    if writer.BY_TUNE and others:
        said = N_("format {format}: the files set nothing for {here}; formats that do: {others}")
        return [said.format(format=format, here=here, others=others)]
    if writer.BY_TUNE:
        return [N_("format {format}: the files set nothing for {here}").format(format=format, here=here)]
    raise UserError(
        _("format {format}: cannot express the plan for {here}; formats that can: {others}").format(
            format=format, here=here, others=others or _("none, the MPI's defaults are kept")
        )
    )


def offered(
    tuning: Tuning, plan: Plan, machine: Machine, weights: Mapping[str, float] | None = None
) -> list[tuple[str, str, bool]]:
    """Every format that this machine's MPI takes: its name, what it is, and whether it can say anything of the plan, or
    of the one that would be exported in its place (see `exportable`)."""
    return [(format.NAME, format.LABEL, _says(format, tuning, plan, machine, weights)) for format in _of(machine)]


def _says(format: Format, tuning: Tuning, plan: Plan, machine: Machine, weights: Mapping[str, float] | None) -> bool:
    try:
        plan, _notes = exportable(tuning, plan, format.NAME, weights)
    except UserError:
        return False
    return _expresses(format, content_of(tuning, plan, machine, Path()))


def _expresses(format: Format, content: Content) -> bool:
    try:
        return format.expresses(content)
    except UserError:
        return False


def edited(format: str, directory: Path) -> list[Path]:
    """The files of an earlier export of this format that were edited since."""
    return [path for name in named(format).FILES if is_edited(path := directory.absolute() / name)]


def formats(machine: Machine) -> tuple[str, ...]:
    """Those that `tune` writes: forms that this machine's MPI, or our library in it, reads."""
    return tuple(format.NAME for format in _of(machine) if format.BY_TUNE)


def exportable(
    tuning: Tuning, plan: Plan, format: str, weights: Mapping[str, float] | None = None
) -> tuple[Plan, list[str]]:
    """The plan that a format can say, and a sentence when it is not the one given.

    What the MPI's own files cannot express, because it takes our library, becomes the best plan without it.
    """
    if not plan.needs_library or named(format).TAKES_LIBRARY:
        return plan, []
    instead = without_library(tuning, plan.nodes, plan.ppn, weights)
    if instead is None:
        raise UserError(
            _("format {format}: all plans of {name} need our library; export with --format {ours}").format(
                format=format, name=tuning.name, ours=OURS
            )
        )
    lost = [
        f"{name} {gain_words(gain)} instead of {gain_words(plan.gain[name])}"
        for name, gain in instead.gain.items()
        if name in plan.gain and plan.gain[name].mid > gain.mid
    ]
    return instead, [
        N_(
            "The best plan needs our library (unisono run, or --format library), which this format cannot ask for. "
            "This is the best without it: launch setting {launch}"
        ).format(launch=instead.launch)
        + (f"; gains {', '.join(lost)}" if lost else "")
    ]


def caveats(tuning: Tuning, plan: Plan, machine: Machine, format: str = "") -> list[str]:
    """What the exported files cannot do; one sentence each. The files say the same in their comments."""
    if format == han.NAME:
        notes = han.notes(content_of(tuning, plan, machine, Path()))
    else:
        notes = list(plan_words(tuning, plan, machine).notes)
    if plan.predicted:
        notes.append(foretold(tuning, plan))
    if tuning.study.reproducible:
        notes.append(
            N_(
                "reductions are reproducible ({level}) only where our library serves them: with unisono run or "
                "--format {ours}"
            ).format(level=tuning.study.reproducible, ours=library.NAME)
        )
    return notes


def _of(machine: Machine) -> list[Format]:
    family = require_mpi(machine).traits
    return [format for format in FORMATS if format.read_by(family)]


_FAMILY_OF = {one.ALGORITHMS_OF: one.FAMILY for one in FAMILIES if one.ALGORITHMS_OF is not None}


def _require_its_mpi(tuning: Tuning, plan: Plan, machine: Machine) -> None:
    """Raises UserError for a tuning of another MPI: its algorithms and variables are others."""
    mpi = require_mpi(machine)
    named = [_FAMILY_OF.get(rule.call.get("coll", "")) for rule in plan.rules]
    families = ([tuning.mpi.family] if tuning.mpi else []) + [family for family in named if family]
    other = next((family for family in families if family != mpi.family), None)
    if other is not None:
        raise UserError(
            _(
                "{name}: was measured with {other}, but this is {mpi} {version}; name the MPI that it was measured "
                "with by --mpirun"
            ).format(name=tuning.name, other=mpi_name(other), mpi=mpi.name, version=mpi.version)
        )


def _writer(name: str, tuning: Tuning, plan: Plan, machine: Machine) -> Format:
    """Raises UserError for a format that is unknown, or another MPI's, and for a tuning of another MPI."""
    writer = named(name)
    _require_its_mpi(tuning, plan, machine)
    if writer not in _of(machine):
        mpi = require_mpi(machine)
        raise UserError(
            _("format {format}: {mpi} does not read this format; formats for {mpi}: {known}").format(
                format=name, mpi=mpi.name, known=", ".join(format.NAME for format in _of(machine))
            )
        )
    return writer


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
