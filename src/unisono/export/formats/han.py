"""Open MPI's parameter file, with the rules of coll/han: which component serves which calls on several nodes."""

from __future__ import annotations

import re
from dataclasses import replace

from unisono.core.errors import LaunchError, UserError
from unisono.core.language import N_, _
from unisono.core.reading import read_text
from unisono.core.version import at_least
from unisono.export import han_rules, keyval
from unisono.export import tuned_rules as rules
from unisono.export import tuned_rules_json as rules_json
from unisono.export.carried import JSON_RULES, RULES, rules_name
from unisono.export.compiled import compile_rules, plans_under
from unisono.export.content import Content
from unisono.export.formats import openmpi
from unisono.export.handed import Handed
from unisono.export.placement_words import placement_comment
from unisono.export.probe import ask, probe_program
from unisono.export.provenance import provenance
from unisono.export.seen import Item
from unisono.export.tuned_rules import RulesFile
from unisono.export.words import rules_words
from unisono.mpi.family import Family

NAME = "han"
LABEL = N_("Open MPI's parameter file, and rules that tell coll/han which component serves which call on several nodes")
HAN = "openmpi-han-rules.conf"
FILES: tuple[str, ...] = (HAN, RULES, JSON_RULES, openmpi.MCA)
BY_TUNE = False
TAKES_LIBRARY = False

_FILE = "coll_han_dynamic_rules_filename"
_SHOW = {"coll_han_dump_dynamic_rules": "1", "coll_base_verbose": "10"}
_SHOWN = re.compile(
    r"dump_dynamic_rules \d+ collective \d+ \((?P<collective>\w+)\) topology level \d+ \((?P<level>\w+)\) "
    r"configuration size (?P<ranks>\d+) message size (?P<size>\d+) -> collective component \d+ \((?P<name>\w+)\)"
)


def read_by(family: Family) -> bool:
    return family.MCA


def expresses(content: Content) -> bool:
    return _reached(content) and bool(_compiled(content)[0].entries)


def _reached(content: Content) -> bool:
    """Where Open MPI puts coll/han first: the plan asks for no other component, and this Open MPI has it."""
    has_han = han_rules.HAN in content.mpi.components.get("coll", [])
    asked = content.plan.launch.get("coll", han_rules.HAN)
    return content.plan.nodes > 1 and asked == han_rules.HAN and has_han and at_least(content.mpi.version, "5")


def _compiled(content: Content) -> tuple[han_rules.HanRules, list[str]]:
    return han_rules.compile_han(plans_under(content.tuning, content.plan))


def _tuned(content: Content) -> tuple[RulesFile, list[str]]:
    """coll/tuned's own rules for what it is handed."""
    plans = [
        replace(plan, rules=tuple(r for r in plan.rules if r.call.get("coll", "tuned") == "tuned"))
        for plan in plans_under(content.tuning, content.plan)
    ]
    return compile_rules(plans, content.mpi)


def notes(content: Content) -> list[str]:
    """One sentence for each thing of the plan that these files cannot say."""
    return [*_compiled(content)[1], *_tuned(content)[1]]


def write(content: Content) -> dict[str, str]:
    if not at_least(content.mpi.version, han_rules.SINCE):
        raise UserError(
            _(
                "format {format}: Open MPI reads such rules from {since}, this is {version}: use --format openmpi"
            ).format(format=NAME, since=han_rules.SINCE, version=content.mpi.version)
        )
    head = [*provenance(content.tuning, content.plan), *notes(content), ""]
    tuned = _tuned(content)[0]
    path = content.directory / rules_name(content)
    values = {
        **content.words.mca,
        "coll_han_use_dynamic_file_rules": "1",
        _FILE: str(content.directory / HAN),
        **(rules_words(path) if tuned.collectives else {}),
    }
    files = {HAN: han_rules.write(_compiled(content)[0], head)}
    if tuned.collectives:
        is_json = rules_name(content) == JSON_RULES
        files[path.name] = rules_json.write(tuned) if is_json else rules.write(tuned, head)
    return {**files, openmpi.MCA: keyval.write_mca(values, [*head, *placement_comment(content)])}


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    """What coll/han lists of the rules that it has read, against the file."""
    path = content.directory / openmpi.MCA
    values = keyval.read(read_text(path), str(path))
    file = content.directory / HAN
    wanted = han_rules.read(read_text(file), str(file))
    files = Handed(mca=values, environment={"OMPI_MCA_mca_base_param_files": str(path)})
    program = [str(probe_program(content.machine))]
    crowded = content.tuning.conditions.oversubscribed
    line = files.launch(content.machine, content.plan, program, _SHOW, oversubscribe=crowded)
    try:
        said = ask(line.argv, line.env, deadline).output
    except LaunchError as error:
        return [Item("launch", "runs", error.status, False, error.reason)], [line.shell]
    return items(wanted, said), [line.shell]


def items(wanted: han_rules.HanRules, said: str) -> list[Item]:
    """One for each entry of the file; `said` is what a launch printed."""
    listed = {(m["collective"], m["level"], int(m["ranks"]), int(m["size"])): m["name"] for m in _SHOWN.finditer(said)}
    if not listed:
        reason = _("coll/han listed nothing: it was not there, or dropped the file")
        return [Item(_("rules of coll/han"), "read", _("not read"), False, reason)]
    out = []
    for (collective, level), entries in wanted.entries.items():
        for ranks, sizes in entries:
            for size, name in sizes:
                what = _("{collective}, from {ranks} ranks and {size} B").format(
                    collective=collective, ranks=ranks, size=size
                )
                found = listed.get((collective, level, ranks, size), _("not read"))
                out.append(Item(what, name, found, found == name))
    return out
