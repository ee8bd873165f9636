"""Does MPICH really take what was handed to it?

- Variables: read back inside the launch through MPI_T.
- Selection files: by tripwires. MPICH ends the program in a call for which its file has no answer. So the answer for
  one size is put behind a condition that does not hold: the call of that size, and no other, must end the program.
  (The answer for a whole range would be too much: MPICH 5 itself makes a small allreduce when it starts.)
- Forced algorithms: the file has no answer for their calls either. With the variables these succeed; without one they
  must end the program.

MPICH 5 leaves its segment of shared memory behind where it ends a program: the probe says which those are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unisono.cmdline.command import command
from unisono.core.errors import LaunchError, UserError
from unisono.core.language import _
from unisono.core.reading import read_text
from unisono.core.sizes import format_size
from unisono.core.vocabulary import DEFAULT
from unisono.export import seen
from unisono.export.beside import beside
from unisono.export.calls import sizes_of
from unisono.export.content import Content
from unisono.export.handed import Handed
from unisono.export.mpich_files import ALGORITHMS, FILES, by_variables
from unisono.export.mpich_reader import Call, path_of, read
from unisono.export.mpich_selection import COUNTED, forced
from unisono.export.mpich_tables import Tree, tables_of
from unisono.export.probe import Answers, Until, answered, ask, probe_program
from unisono.export.seen import OWN_CHOICE, Item
from unisono.mpi.cvars import algorithm_variable

_FORCES = re.compile(r"MPIR_CVAR_([A-Z_]+)_INTRA_ALGORITHM")
_STRICT = {"MPIR_CVAR_COLLECTIVE_FALLBACK": "error", "MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD": "0"}
"""An algorithm that does not apply is an error, not another algorithm; shared memory is used from the first call on."""
_NEVER = "is_multi_threaded=yes"
"""The probe starts MPI without threads."""


def check_mpich(content: Content, files: Handed, deadline: float) -> tuple[list[Item], list[str]]:
    """What was seen, and every command line that was run. `deadline` is seconds a launch."""
    launches = _Launches(content, files, deadline)
    try:
        items = list(_items(content, files, launches))
    except LaunchError as error:
        items = [Item("launch", "runs", error.status, False, error.reason)]
    nothing = Item("everything", _("the default"), _("the default"), True, _("the files set nothing"))
    return items or [nothing], launches.commands


def _items(content: Content, files: Handed, launches: _Launches) -> Iterator[Item]:
    cvars = {name: value for name, value in files.env.items() if name.startswith("MPIR_CVAR_")}
    ucx = {name: value for name, value in {**files.env, **files.ucx_file}.items() if name.startswith("UCX_")}
    calls = [f"call={each.collective}:{size}" for each in _ranges(content) for size in each.sizes]
    readable = {name: value for name, value in cvars.items() if not name.endswith("_JSON_FILE")}
    answers = launches.ask([*(f"cvar={n}" for n in readable), *(f"ucx={n}={v}" for n, v in ucx.items()), *calls])
    yield from _read_back(readable, answers)
    for (collective, size, ranks), failed in answers.failed.items():
        if failed:
            what = _("{collective} of {size}").format(collective=collective, size=format_size(size))
            yield Item(what, _("runs"), _("an error"), False, _("on {ranks} ranks").format(ranks=ranks))
    yield from seen.ucx(files, answers)
    for name, value in files.env.items():
        if name not in cvars and name not in ucx:
            yield Item(name, value, _("cannot be seen"), None, _("its library does not say which variables it uses"))
    named = files.env.get(FILES[ALGORITHMS])
    if named is not None:
        beside_it = by_variables(content)
        yield from _selected(content, launches, Path(named), read(read_text(Path(named)), named), beside_it)
        cvars = {name: value for name, value in cvars.items() if name in beside_it}
    if any(map(_FORCES.fullmatch, cvars)):
        yield from _forced(content, launches, cvars)


def _read_back(cvars: Mapping[str, str], answers: Answers) -> Iterator[Item]:
    for name, value in cvars.items():
        if _FORCES.fullmatch(name) and answers.parameters[name].known:
            continue  # a number stands for its name here: whether it is used is seen by tripwires
        yield from seen.parameters({name: value}, answers)


@dataclass(frozen=True, slots=True)
class _Range:
    """Sizes of one collective for which one answer is wanted."""

    collective: str
    what: str
    sizes: Sequence[int]
    wanted: str | None
    """MPICH's name of the algorithm; None: its own choice."""


def _ranges(content: Content) -> list[_Range]:
    plan, tables = content.plan, tables_of(content.mpi)
    out = []
    for collective in dict.fromkeys(rule.collective for rule in plan.rules if rule.call):
        for what, ends in sizes_of(plan, collective):
            # Fewer elements than ranks are not cut: some algorithms leave those to MPICH (count<pow2).
            sizes = sorted({max(size, plan.ranks) for size in ends}) if "reduce" in collective else ends
            rule = plan.rule_at(collective, sizes[0])
            name = rule.call.get("algorithm") if rule else None
            wanted = tables.name_of(collective, name) if name and tables.has(collective, name) else None
            out.append(_Range(collective, what, sizes, wanted))
    return out


def _selected(
    content: Content, launches: _Launches, path: Path, tree: Tree, beside_it: Mapping[str, str]
) -> Iterator[Item]:
    """One item for each range of the plan's sizes, with one launch for each end of those that have an algorithm."""
    ranges = [each for each in _ranges(content) if algorithm_variable(each.collective) not in beside_it]
    for each in ranges:
        # Those of other collectives may use this one inside.
        calls = sorted(
            (one.collective, size) for one in ranges for size in one.sizes if one.collective == each.collective
        )
        what = f"{each.collective}, {each.what}"
        paths = [path_of(tree, _call(content, each.collective, size)) for size in each.sizes]
        found = [path[-1].partition("=")[2] if path else "nothing" for path in paths]
        if each.wanted is None:
            yield Item(what, OWN_CHOICE, OWN_CHOICE, True, _("by the file: {found}").format(found=found[0]))
            continue
        other = next((name for name in found if name != each.wanted), None)
        if other is not None:
            yield Item(what, each.wanted, other, False, _("the file says so"))
            continue
        wrong, told = None, False
        for number, (size, leaf) in enumerate(zip(each.sizes, paths, strict=True)):
            others = [call for call in calls if path_of(tree, _call(content, *call)) != leaf]
            if others and leaf not in paths[:number]:
                served = [one for one, its in zip(each.sizes, paths, strict=True) if its == leaf]
                variant = _without(tree, leaf, each.collective, served, content.plan.ranks)
                wrong = launches.survives(path, variant, others, _("the rule also serves other sizes"))
            variant = _without(tree, leaf, each.collective, [size], content.plan.ranks)
            wrong = wrong or launches.trips(path, variant, (each.collective, size))
            told = told or wrong is not None
            if wrong:
                break
        if not told:
            yield Item(what, each.wanted, _("cannot be seen"), None, _("MPICH makes such a call itself when it starts"))
            continue
        yield Item(what, each.wanted, wrong or each.wanted, not wrong, _at(size) if wrong else "")


def _forced(content: Content, launches: _Launches, cvars: Mapping[str, str]) -> Iterator[Item]:
    """One item for each collective whose algorithm a variable names."""
    tree = tables_of(content.mpi).algorithms
    wanted = forced(content.plan)
    for name, value in cvars.items():
        match = _FORCES.fullmatch(name)
        if match is None:
            continue
        collective = match[1].lower()
        sizes = [size for each in _ranges(content) if each.collective == collective for size in each.sizes] or [8]
        leaf = path_of(tree, _call(content, collective, sizes[0]))
        bare = _without(tree, leaf, collective, [sizes[0]], content.plan.ranks)
        wrong: str | None = "" if wanted.get(collective) == value else _("another than the plan's")
        failed = _("its calls are errors, or others than the algorithm serve them")
        wrong = wrong or launches.survives(None, bare, [(collective, size) for size in sizes], failed)
        wrong = wrong or launches.trips(None, bare, (collective, sizes[0]), {name: "auto"})
        yield Item(name, value, wrong or value, not wrong)


def _call(content: Content, collective: str, size: int) -> Call:
    return Call(collective, content.plan.nodes, content.plan.ppn, size, element=1)  # the probe's are bytes


def _without(tree: Tree, path: Sequence[str], collective: str, sizes: Sequence[int], ranks: int) -> Tree:
    """The tree with the leaf at the end of a path behind a condition that does not hold: for these sizes (ascending)
    where files tell sizes of this collective apart, else for all."""
    first, *rest = path
    if rest:
        below = _without(tree[first], rest, collective, sizes, ranks)
        return {key: below if key == first else other for key, other in tree.items()}
    leaf: Tree = {first: tree[first]}
    counted = COUNTED.get(collective)
    if counted is None:
        return {_NEVER: leaf}
    chain: Tree = {}
    for size in sizes:
        bytes_ = size * ranks if counted == "total_msg_size" else size
        chain |= {f"{counted}<={bytes_ - 1}": leaf, f"{counted}<={bytes_}": {_NEVER: leaf}}
    return {**chain, f"{counted}=any": leaf}


def _at(size: int) -> str:
    return _("at {size}").format(size=format_size(size))


@dataclass
class _Launches:
    content: Content
    files: Handed
    deadline: float
    commands: list[str] = field(default_factory=list)

    def ask(self, questions: Sequence[str]) -> Answers:
        argv, env = self._line(questions, {})
        return ask(argv, {**env, "UCX_LOG_LEVEL": "info"}, self.deadline)

    def survives(self, path: Path | None, tree: Tree, calls: Sequence[tuple[str, int]], else_: str) -> str | None:
        """Runs calls with a selection file; "" where all succeed. None where the program did not begin: MPICH makes a
        call itself, when it starts, for which the file has no answer."""
        until = self._calls(path, tree, calls, {})
        if not until.begun:
            return None
        return "" if self._succeeded(until) >= set(calls) else else_

    def trips(
        self, path: Path | None, tree: Tree, call: tuple[str, int], variables: Mapping[str, str] | None = None
    ) -> str | None:
        """Runs one call with a selection file; "" where it ends the program, None as above."""
        until = self._calls(path, tree, [call], variables or {})
        if not until.begun:
            return None
        return _("another than the file's rule serves it") if call in self._succeeded(until) else ""

    def _succeeded(self, until: Until) -> set[tuple[str, int]]:
        """Those that succeeded on all ranks."""
        return {(name, size) for name, size, ranks in until.calls if ranks == self.content.plan.ranks}

    def _calls(
        self, path: Path | None, tree: Tree, calls: Sequence[tuple[str, int]], variables: Mapping[str, str]
    ) -> Until:
        text = json.dumps(tree) + "\n"
        with beside(path or self.content.directory / ALGORITHMS, [text]) as (variant,):
            settings = {**_STRICT, FILES[ALGORITHMS]: str(variant), **variables}
            begun = variant.with_suffix(".begun")
            argv, env = self._line([f"begun={begun}", *(f"call={name}:{size}" for name, size in calls)], settings)
            until = answered(argv, env, self.deadline, begun)
        if until.finished.exit_code == 0 and not until.calls:
            raise UserError(_("the probe ended without an answer"))
        return until

    def _line(self, questions: Sequence[str], variables: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """With `variables` after those of the files; no core files, as some launches are meant to end badly."""
        plan, machine = self.content.plan, self.content.machine
        program = [str(probe_program(machine)), *questions]
        crowded = self.content.tuning.conditions.oversubscribed
        line = command(machine, DEFAULT, plan.nodes, plan.ppn, program, oversubscribe=crowded)
        given = [f"{name}={value}" for name, value in variables.items()]
        argv = [
            "sh",
            "-c",
            'ulimit -c 0; exec "$@"',
            "sh",
            *self.files.before,
            *(["env", *given] if given else []),
            *line.argv,
        ]
        argv = argv if variables else [*self.files.before, *line.argv]
        env = {**line.env, **self.files.environment}
        self.commands.append(" ".join([*(f"{n}={v}" for n, v in env.items()), *argv]))
        return argv, env
