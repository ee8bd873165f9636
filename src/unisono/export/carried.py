"""A plan as environment variables, and the files that they name: what a shell, a module and a batch job hand over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from unisono.core.version import at_least
from unisono.export import mpich_files, preset_file
from unisono.export import tuned_rules as rules
from unisono.export import tuned_rules_json as rules_json
from unisono.export.content import Content
from unisono.export.handed import Handed
from unisono.export.mpich_files import selection, selection_files
from unisono.export.serving import with_its_launch

RULES = "openmpi-rules.conf"
JSON_RULES = "openmpi-rules.json"
"""The same for Open MPI 6."""

CARRIED_FILES = (RULES, JSON_RULES, *mpich_files.FILES, preset_file.NAME)
"""All that variables may name."""

PREFIX = "OMPI_MCA_"


@dataclass(frozen=True, slots=True)
class Carried:
    variables: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    """Name in the directory -> text. Variables name them by their full path."""
    notes: tuple[str, ...] = ()
    """One sentence for each thing of the plan that these cannot say."""

    def paths(self, directory: Path) -> list[str]:
        return [str(directory / name) for name in self.files]


def carried(content: Content) -> Carried:
    """All of the plan that environment variables can say to its MPI; placement they cannot."""
    if content.mpi.traits.MCA:
        return _components(content)
    if content.mpi.traits.SELECTION_FILES:
        return _selected(content)
    if content.mpi.traits.PRESET_FILE:
        return _preset(content)
    return Carried(dict(content.words.env))


def _components(content: Content) -> Carried:
    mca = content.words.mca_with_rules(content.directory / rules_name(content))
    variables = {f"{PREFIX}{name}": value for name, value in mca.items()}
    return Carried({**variables, **content.words.env}, rules_files(content))


def _selected(content: Content) -> Carried:
    found = selection(content)
    files = selection_files(found)
    names = {mpich_files.FILES[name]: str(content.directory / name) for name in files}
    return Carried({**names, **mpich_files.by_variables(content), **content.words.env}, files, found.notes)


def _preset(content: Content) -> Carried:
    found = preset_file.compile_presets(with_its_launch(content.tuning, content.plan), content.mpi)
    files = {preset_file.NAME: found.text} if found.tree else {}
    names = {preset_file.VARIABLE: str(content.directory / preset_file.NAME)} if files else {}
    return Carried({**names, **content.words.env}, files, found.notes)


def rules_name(content: Content) -> str:
    """Of the file in which this Open MPI reads rules as they are meant."""
    return JSON_RULES if at_least(content.mpi.version, rules_json.SINCE) else RULES


def rules_files(content: Content) -> dict[str, str]:
    """The rules file of coll/tuned; empty where the plan has no rules."""
    if not content.words.rules:
        return {}
    if rules_name(content) == JSON_RULES:
        return {JSON_RULES: rules_json.write(content.words.rules)}
    return {RULES: rules.write(content.words.rules, content.head)}


def by_environment(values: Mapping[str, str], path: Path | None = None) -> Handed:
    """How variables are handed over: by sourcing the script at `path`, else in the launcher's own environment."""
    mca = {name.removeprefix(PREFIX): value for name, value in values.items() if name.startswith(PREFIX)}
    env = {name: value for name, value in values.items() if not name.startswith(PREFIX)}
    if path is None:
        return Handed(mca=mca, env=env, environment=values)
    return Handed(mca=mca, env=env, before=["sh", "-c", '. "$0" && exec "$@"', str(path)])
