"""Reading and writing the document: TOML with a layout made for reading it and for `git diff`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from unisono.core import writing
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.kinds import mistaken
from unisono.core.language import _, translated
from unisono.core.reading import read_text
from unisono.core.sizes import format_size
from unisono.core.toml import key_words, parse_toml
from unisono.tuning.contents import FORMAT, VERSION, LayoutModel, MpiPart, ProofModel, Tuning
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Basis, Joint, Plan, Rule

_HEAD = """\
# A Unisono tuning: what to set so that this MPI communicates fastest on this machine, and the evidence for it.
#
# [[plan]]       one setting of a whole launch (environment, MCA parameters, placement) for `nodes` x `ppn` ranks.
#                The first plan of each (nodes, ppn) is the best under [weights]; {} sets nothing: the default.
# [[plan.rule]]  for message sizes from..to of one collective: what to use under that plan. No `to`: no upper end;
#                an empty `call`: what the MPI does by itself. Sizes no rule names stay as they are.
# preload        with preload = "unisono" in its launch a plan is carried out by our library (`unisono run` puts it into
#                the ranks), call by call: coll = "unisono" is one of our algorithms, any other coll one of the MPI's.
# as_fast        algorithms of ours that were as fast as `call`: our library takes the one that puts the fewest bytes
#                between groups of nodes, where it knows which nodes of the job are behind the same switches.
# gain           time of the default / time with this: above 1 is faster. low..high is the confidence interval.
# basis          "predicted": not measured, but foretold from other numbers of nodes; without it: measured. `sure` is
#                the probability that nothing is more than 5 % faster than a predicted rule.
# joint          the same for several collectives together, weighted so; judged by launch, hence narrower than theirs.
# sizes          message sizes as IMB counts them: per pair for alltoall, allgather, gather, scatter and
#                reduce_scatter_block, the whole vector for allreduce, reduce, reduce_scatter, bcast, scan and exscan.
#
# [[proof]]      default against tuned on fresh launches, which the decision had not seen: the figures to believe.
#
# [[layout]]     processes and their threads on `nodes` nodes, from `unisono hybrid`; gain is over `reference`.
#
#   unisono show FILE                              the same as a table
#   unisono lookup FILE --collective C --nodes N --ppn P --size S
#   unisono export FILE --format openmpi|ucx|shell|mpirun|...
#   unisono run --tuning FILE -- mpirun ...        your own command line with it; --layout: in that layout
#   unisono verify --tuning FILE -- mpirun ...     does it help your program?
"""


def read(path: Path, *, layouts: bool = False) -> Tuning:
    """The tuning in a file. Raises UserError naming file, line and key for anything that is not a whole tuning, and for
    one that holds layouts alone unless `layouts` says that they will do."""
    if not path.exists() and not path.is_symlink():
        raise UserError(
            _("{path}: there is no such file; unisono tune writes a tuning, into unisono-out/tuning.toml").format(
                path=path
            )
        )
    try:
        tuning = parse(read_text(path), str(path))
    except UserError as error:
        raise mistaken(path, "tuning") or error from error
    if not tuning.plan and not layouts:
        raise UserError(
            _(
                "{path}: holds layouts alone, nothing on collectives: unisono run --layout applies them, unisono tune "
                "measures collectives"
            ).format(path=path)
        )
    return tuning


def parse(text: str, where: str) -> Tuning:
    """The tuning in a text; `where` names it in errors. Raises UserError."""
    document = parse_toml(text, where)
    if document.get("format") != FORMAT:
        sentence = (
            _('{where}: is not a tuning (its format is {other!r}); a tuning begins with format = "{format}"')
            if "format" in document
            else _('{where}: is not a tuning (it has no `format`); a tuning begins with format = "{format}"')
        )
        raise UserError(sentence.format(where=where, other=document.get("format"), format=FORMAT))
    if document.get("version") != VERSION:
        raise UserError(
            _("{where}: is a tuning of version {version!r}; this Unisono reads version {known}").format(
                where=where, version=document.get("version"), known=VERSION
            )
        )
    try:
        return Tuning.model_validate(document)
    except ValidationError as error:
        raise UserError(_explain(text, where, error)) from error


def write(tuning: Tuning, path: Path) -> None:
    """Put the document in place as a whole, never half of it. Raises UserError when that is not possible."""
    writing.write(path, render(tuning))


def render(tuning: Tuning) -> str:
    """The document as text; `parse` gives the same tuning back."""
    study, conditions, costs = tuning.study, tuning.conditions, tuning.costs.items()
    lines = [
        _HEAD,
        f"format = {_text(tuning.format)}",
        f"version = {tuning.version}",
        f"name = {_text(tuning.name)}",
        f"created = {_text(tuning.created)}",
        f"made_by = {_text(tuning.made_by)}",
        "",
        "[study]",
        f"id = {_text(study.id)}",
        f"name = {_text(study.name)}",
        f"method = {_text(study.method)}",
        f"margin = {study.margin!r}  # the default is kept unless beaten by more than this ...",
        f"confidence = {study.confidence!r}  # ... with this confidence",
        f"statistic = {_text(study.statistic)}  # of a launch's repetitions",
        *([f"reproducible = {_text(study.reproducible)}  # sums of reductions"] if study.reproducible else []),
        "",
        "[conditions]",
        f"oversubscribed = {str(conditions.oversubscribed).lower()}",
        f"launches = {conditions.launches}",
        f"ranks = {_list(map(str, conditions.ranks))}",
        f"notes = {_lines(conditions.notes)}",
        "",
        "[machine]",
        *(f"{_key(name)} = {_text(value)}" for name, value in tuning.machine.items()),
        "",
        *_mpi(tuning.mpi),
        *(["[costs]  # seconds", *(f"{name} = {value!r}" for name, value in costs), ""] if costs else []),
        "[weights]",
        *(f"{_key(name)} = {weight!r}" for name, weight in tuning.weights.items()),
    ]
    for plan in tuning.plan:
        lines += _plan(plan)
    for layout in tuning.layout:
        lines += _layout(layout)
    for proof in tuning.proof:
        lines += _proof(proof)
    for finding in tuning.finding:
        lines += _finding(finding)
    return "\n".join(lines) + "\n"


def _mpi(mpi: MpiPart | None) -> list[str]:
    if mpi is None:
        return []
    values = [(name, value) for name, value in mpi.model_dump().items() if value is not None]
    return ["[mpi]", *(f"{name} = {_text(value)}" for name, value in values), ""]


def _plan(plan: Plan) -> list[str]:
    lines = [
        "",
        "[[plan]]",
        f"nodes = {plan.nodes}",
        f"ppn = {plan.ppn}",
        f"launch = {_table(plan.launch)}",
        *([f"joint = {_joint(plan.joint)}"] if plan.joint else []),
        *_basis(plan.basis),
        "[plan.gain]",
        *(f"{_key(name)} = {_gain(gain)}" for name, gain in plan.gain.items()),
    ]
    for rule in plan.rules:
        lines += _rule(rule)
    return lines


def _rule(rule: Rule) -> list[str]:
    ends = [f'from = "{format_size(rule.first)}"']
    if rule.last is not None:
        ends.append(f'to = "{format_size(rule.last)}"')
    return [
        "",
        "  [[plan.rule]]",
        f"  collective = {_text(rule.collective)}",
        *(f"  {end}" for end in ends),
        f"  call = {_table(rule.call)}",
        *([f"  as_fast = {_list(map(_table, rule.as_fast))}"] if rule.as_fast else []),
        f"  gain = {_gain(rule.gain)}",
        f"  sizes = {_list(_text(format_size(size)) for size in rule.sizes)}",
        f"  launches = {rule.launches}",
        *(f"  {line}" for line in _basis(rule.basis)),
        *([f"  sure = {rule.sure!r}"] if rule.sure is not None else []),
    ]


def _basis(basis: Basis) -> list[str]:
    """Nothing for what was measured, as everything is where nothing is said."""
    return [] if basis == "measured" else [f"basis = {_text(basis)}"]


def _layout(layout: LayoutModel) -> list[str]:
    return [
        "",
        "[[layout]]",
        f"program = {_text(layout.program)}",
        f"metric = {_text(layout.metric)}",
        f"nodes = {layout.nodes}",
        f"threads = {layout.threads}  # of a process",
        f"processes = {layout.processes}  # of a node",
        f"numa = {_text(layout.numa)}",
        f"packing = {_text(layout.packing)}",
        f"links = {_table(layout.links)}",
        f"reference = {_text(layout.reference)}",
        f"gain = {_gain(layout.gain)}",
        f"proven = {str(layout.proven).lower()}",
        f"launches = {layout.launches}",
        f"study = {_text(layout.study)}",
    ]


def _proof(proof: ProofModel) -> list[str]:
    return [
        "",
        "[[proof]]",
        f"collective = {_text(proof.collective)}",
        f"nodes = {proof.nodes}",
        f"ppn = {proof.ppn}",
        f"gain = {_gain(proof.gain)}",
        f"launches = {proof.launches}",
        f"verdict = {_text(proof.verdict)}",
    ]


def _finding(finding: Finding) -> list[str]:
    lines = ["", "[[finding]]", f"kind = {_text(finding.kind)}", f"text = {_text(finding.text)}"]
    for name in ("collective", "nodes", "ppn", "parameter", "value"):
        content = getattr(finding, name)
        if content is not None:
            lines.append(f"{name} = {_text(content) if isinstance(content, str) else content}")
    return lines


def _text(value: str) -> str:
    # JSON's escapes are TOML's, but TOML also wants DEL escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


def _lines(items: Sequence[str]) -> str:
    """One item a line when there are any: sentences are long."""
    return "[\n" + "".join(f"  {_text(item)},\n" for item in items) + "]" if items else "[]"


def _table(values: Mapping[str, str]) -> str:
    inside = ", ".join(f"{_key(name)} = {_text(value)}" for name, value in values.items())
    return f"{{ {inside} }}" if inside else "{}"


def _gain(gain: Interval) -> str:
    return f"{{ mid = {gain.mid!r}, low = {gain.low!r}, high = {gain.high!r} }}"


def _joint(joint: Joint) -> str:
    weights = ", ".join(f"{_key(name)} = {weight!r}" for name, weight in joint.weights.items())
    return f"{{ gain = {_gain(joint.gain)}, weights = {{ {weights} }} }}"


def _explain(text: str, where: str, error: ValidationError) -> str:
    """One line: file, line, key, what is wrong with it, and how many more there are."""
    first, *others = error.errors()
    loc = first["loc"]
    key = key_words(loc) or "document"
    line = line_of(text, loc)
    unknown = first["type"] in ("extra_forbidden", "unexpected_keyword_argument")
    message = _("is not a known key") if unknown else translated(first["msg"].removeprefix("Value error, "))
    more = _(" (and {count} more)").format(count=len(others)) if others else ""
    place = _("{where}: line {number}").format(where=where, number=line) if line else where
    return f"{place}: {key}: {message}{more}"


_HEADER = re.compile(r"\s*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?")


def line_of(text: str, loc: Sequence[int | str]) -> int | None:
    """The line of a key as pydantic locates it: ("plan", 0, "rule", 2, "from") is `from` under the first plan's third
    rule. The deepest line that can be told: the key's, else its table's; None when neither is there."""
    best: int | None = None
    reached: tuple[int | str, ...] = ()
    counts: dict[tuple[int | str, ...], int] = {}
    here: tuple[int | str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.fullmatch(line)
        if header is not None:
            here = _path(header[1].split("."), counts, repeated=line.lstrip().startswith("[["))
            found = here
        else:
            name = line.partition("=")[0].strip().strip('"')
            found = (*here, name) if name and "=" in line else ()
        if found and found == tuple(loc[: len(found)]) and len(found) > len(reached):
            best, reached = number, found
    return best


def _path(names: Sequence[str], counts: dict[tuple[int | str, ...], int], *, repeated: bool) -> tuple[int | str, ...]:
    """A table header as pydantic's path; `counts` says how often each array of tables has begun so far."""
    path: tuple[int | str, ...] = ()
    for position, name in enumerate(names):
        path = (*path, name)
        if repeated and position == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path
