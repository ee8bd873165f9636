"""Does Open MPI really take what was handed to it?

- MCA parameters: read back inside the launch through MPI_T.
- UCX variables: from UCX's own words, its list of variables in use and its configuration report.
- Rules: by tripwires (see unisono.export.tripwire), at the ends of every rule's range and on a smaller communicator.
- A preferred component: from Open MPI's account of which component serves what.
- Placement: from every rank's own affinity mask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from unisono.cmdline.command import Command
from unisono.core.errors import LaunchError
from unisono.core.language import N_, _
from unisono.core.reading import read_text
from unisono.export import seen
from unisono.export import tuned_rules_json as rules_json
from unisono.export.beside import beside
from unisono.export.calls import Point, rule_points, watched
from unisono.export.content import Content
from unisono.export.handed import Handed
from unisono.export.probe import Answers, ask, probe_program
from unisono.export.seen import Item
from unisono.export.tripwire import variants
from unisono.export.tuned_rules import Entry, entries
from unisono.export.words import RULES_FILE, PlanWords
from unisono.machine.description import Machine
from unisono.parameters.selected import VERBOSE, parse
from unisono.tuning.plans import Plan


def check_handed(content: Content, files: Handed, deadline: float) -> tuple[list[Item], list[str]]:
    """What was seen, and every command line that was run. `deadline` is seconds a launch."""
    plan, machine = content.plan, content.machine
    rules_text = _rules_text(files)
    if rules_text is not None and _is_json(files):
        rules_json.read(rules_text, str(files.rules_file))
        rules_text = None
    found = watched(entries(rules_text, str(files.rules_file)), plan.ranks) if rules_text is not None else []
    points = rule_points(plan, content.words.rules, found)
    runner = _Runner(machine, plan, files, deadline, crowded=content.tuning.conditions.oversubscribed)
    try:
        items = list(_items(runner, content.words, files, points, rules_text, found))
    except LaunchError as error:
        items = [Item("launch", "runs", error.status, False, error.reason)]
    nothing = Item("everything", _("the default"), _("the default"), True, _("the files set nothing"))
    return items or [nothing], runner.commands


def _items(
    runner: _Runner,
    words: PlanWords,
    files: Handed,
    points: Sequence[Point],
    rules_text: str | None,
    found: Sequence[Entry],
) -> Iterator[Item]:
    wanted_ucx = {**files.ucx_file, **{n: v for n, v in files.env.items() if n.startswith("UCX_")}}
    questions = [
        "where",
        *(f"cvar={name}" for name in files.mca),
        *(f"ucx={name}={value}" for name, value in wanted_ucx.items()),
        *_calls(points),
    ]
    answers = runner.run(questions)
    yield from seen.parameters(files.mca, answers)
    yield from seen.ucx(files, answers)
    yield from seen.environment(files)
    if runner.places:
        yield seen.placement(runner.plan, runner.machine, answers)
    served = runner.served() if runner.plan.nodes > 1 or "coll" in runner.plan.launch else {}
    if "coll" in runner.plan.launch:
        yield seen.component(runner.plan.launch["coll"], served, list(runner.plan.gain))
    if files.rules_file is not None and _is_json(files) and files.rules_file.is_file():
        reason = N_(
            "only Unisono itself has read these rules in JSON for Open MPI 6; there is no check yet that Open MPI "
            "takes them"
        )
        yield Item(_("rules file"), str(files.rules_file), "", None, reason)
    elif files.rules_file is not None and rules_text is None:
        yield Item(_("rules file"), str(files.rules_file), _("not there"), False, _("Open MPI ignores that in silence"))
    elif rules_text is not None:
        # coll/han also sets itself up with coll/tuned's calls: what it serves must not be made to fail.
        reached = [point for point in points if served.get(point.collective, "tuned") == "tuned"]
        yield from seen.not_reached([point for point in points if point not in reached], served, runner.machine)
        entries_reached = [e for e in found if served.get(e.collective, "tuned") == "tuned"]
        yield from _rules(runner, reached, rules_text, entries_reached, answers)
    elif words.rules is not None and not files.ucx_file:
        yield Item(_("rules file"), "named", _("not named"), False, _("the files name none, and the plan has rules"))


def _calls(points: Sequence[Point]) -> list[str]:
    return [f"call={collective}:{size}" for collective, size in dict.fromkeys(point.call for point in points)]


def _rules(
    runner: _Runner, points: Sequence[Point], text: str, found: Sequence[Entry], plain: Answers
) -> Iterator[Item]:
    """Launch once for every variant of the rules file and compare what applied with what should."""
    assert runner.files.rules_file is not None
    failed: list[Mapping[tuple[str, int, int], bool]] = []
    with beside(runner.files.rules_file, variants(text, found)) as paths:
        for path in paths:
            try:
                failed.append(runner.run(_calls(points), {RULES_FILE: str(path)}).failed)
            except LaunchError as error:
                reason = _("with one rule made to fail, the launch {status}: {reason}").format(
                    status=error.status, reason=error.reason
                )
                yield Item(_("rules file"), _("one rule for all ranks"), error.status, False, reason)
                return
    items = list(seen.rules(points, found, plain.failed, failed, runner.machine))
    if any(item.taken is False for item in items):
        served = runner.served()
        items = [seen.with_server(item, served) for item in items]
    yield from items


class _Runner:
    """Launches the probe the way the files are handed over, and remembers the command lines."""

    def __init__(self, machine: Machine, plan: Plan, files: Handed, deadline: float, *, crowded: bool) -> None:
        self.machine = machine
        self.plan = plan
        self.files = files
        self.commands: list[str] = []
        self._deadline = deadline
        self._crowded = crowded
        self._program = str(probe_program(machine))

    @property
    def places(self) -> bool:
        """Whether the files place the ranks: only mpirun's arguments can."""
        return "placement" in self.plan.launch and bool(self.files.words) and not self.files.ucx_file

    def run(self, questions: Sequence[str], extra_mca: Mapping[str, str] | None = None) -> Answers:
        line = self._line(questions, extra_mca)
        try:
            return ask(line.argv, line.env, self._deadline)
        except LaunchError:
            # mpirun itself hangs or stumbles now and then (PRRTE of 5.0, on a busy machine): once is no answer.
            return ask(line.argv, line.env, self._deadline)

    def served(self) -> dict[str, str]:
        """Collective -> component that serves it on the world communicator; empty where Open MPI does not say."""
        try:
            line = self._line([], VERBOSE)
            return parse(ask(line.argv, line.env, self._deadline).output)
        except LaunchError:
            return {}

    def _line(self, questions: Sequence[str], extra_mca: Mapping[str, str] | None) -> Command:
        program = [self._program, *questions]
        line = self.files.launch(self.machine, self.plan, program, extra_mca, oversubscribe=self._crowded)
        # At this level UCX lists the variables it uses; it warns of those it does not know at any.
        line = replace(line, env={**line.env, "UCX_LOG_LEVEL": "info"})
        self.commands.append(line.shell)
        return line


def _is_json(files: Handed) -> bool:
    return files.rules_file is not None and files.rules_file.suffix == ".json"


def _rules_text(files: Handed) -> str | None:
    """The rules file's text; None when none is named or it cannot be read."""
    if files.rules_file is None:
        return None
    return read_text(files.rules_file) if files.rules_file.is_file() else None
