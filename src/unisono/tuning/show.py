"""A tuning as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from unisono.core import sums
from unisono.core.interval import Interval
from unisono.core.language import _, listed, ngettext, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import Case, is_ours
from unisono.tuning import words
from unisono.tuning.choice import choose, without_library
from unisono.tuning.contents import Tuning
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Plan, Rule, gain_words

_NAME_MOST = 24
"""Letters of a launch setting that stands in the table: where one is longer, they are listed below it by number."""
_COLUMNS_MOST = 8
"""Collectives beside one another: where there are more, they are below one another, for the setting to use alone."""


def show(tuning: Tuning, *, proven: bool = False) -> Group:
    """What it was made from; for every (nodes, ppn) its plans and the rules of the best one; the proof, unless a fuller
    one follows (`proven`); and the findings."""
    parts: list[RenderableType] = [_about(tuning)]
    for nodes, ppn in tuning.cases():
        best = choose(tuning, nodes, ppn)
        parts += [Text(), _plans(tuning, nodes, ppn, best), Text(), _rules(tuning, best)]
    if tuning.proof:
        level = tuning.study.reproducible
        parts += [Text(), _proof(tuning)]
        parts += [Text(translated(price)) for price in sums.prices(tuning.proof, level)]
        parts += [Text(said, style="bold red")] if (said := slower(tuning.proof, level=level)) else []
    elif tuning.simulated or tuning.imported:
        parts += [
            Text(),
            Text(_("This document contains no proof; run unisono verify on the machine itself to make one.")),
        ]
    elif tuning.plan and not proven:
        parts += [Text(), Text(_unproven(tuning))]
    if tuning.layout:
        parts += [Text(), _layouts(tuning)]
    if tuning.finding:
        parts += [Text(), Text(_("Findings"), style="bold"), *_findings(tuning.finding)]
    return Group(*parts)


_ORDER = ("disqualified", "better", "mixed", "singular point", "worse")
"""Kinds of findings, as they are listed; of those that change nothing all others come last."""


def _findings(findings: Iterable[Finding]) -> Iterator[Text]:
    """Those on one case together below its name: what is better, what is worse, what makes no difference. Then those
    on the whole study, as they are."""
    of: dict[Case | None, list[Finding]] = {}
    for finding in findings:
        of.setdefault(finding.case, []).append(finding)
    general = of.pop(None, [])
    for case, found in of.items():
        name = translated(f"{case}")
        yield Text(name, style="bold")
        for finding in sorted(found, key=lambda one: _ORDER.index(one.kind) if one.kind in _ORDER else len(_ORDER)):
            yield Text("- " + translated(finding.text).removeprefix(f"{name}: "))
    if of and general:
        yield Text(_("The study as a whole"), style="bold")
    yield from (Text(f"- {translated(finding.text)}") for finding in general)


def _unproven(tuning: Tuning) -> str:
    """Where a proof can be made: a login node has not the ranks for it."""
    nodes = max(nodes for nodes, _ppn in tuning.cases())
    if nodes == 1:
        return _(
            "This document contains no proof; unisono tune --resume -o DIR makes one, where DIR is the directory of "
            "its study."
        )
    return _(
        "This document contains no proof; unisono tune --resume -o DIR makes one in a job of {nodes} nodes, "
        "where DIR is the directory of its study. If jobs measured the study (--submit), their own reports have "
        "their proofs."
    ).format(nodes=nodes)


def _about(tuning: Tuning) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    study = tuning.study
    table.add_row(_("tuning"), Text(tuning.name, style="bold"))
    if tuning.simulated:
        table.add_row(_("SIMULATED"), Text(translated(words.SIMULATED), style="bold yellow"))
    table.add_row(_("made"), Text(_("{created} by {made_by}").format(created=tuning.made, made_by=tuning.made_by)))
    if tuning.mpi is not None:
        table.add_row("MPI", Text(tuning.mpi.words))
    table.add_row(_("study"), Text(f"{study.name}, {study.method}, id {study.id}"))
    kept = _("a setting has to beat the default by {margin:.0%}, with {confidence:.0%} confidence")
    if tuning.simulated:
        kept = _(
            "a setting has to beat the default by {margin:.0%}; each was simulated once and would be the same again"
        )
    table.add_row(_("margin"), kept.format(margin=study.margin, confidence=study.confidence))
    if study.reproducible:
        said = map(translated, (sums.promise(study.reproducible), sums.baseline(study.reproducible)))
        table.add_row(_("sums"), Text(" ".join(said)))
    conditions = tuning.conditions
    ranks = ", ".join(map(str, conditions.ranks))
    measured = (
        _("{launches} launches of {ranks} ranks; more ranks than CPUs")
        if conditions.oversubscribed
        else ngettext("{launches} launch of {ranks} ranks", "{launches} launches of {ranks} ranks", conditions.launches)
    )
    if tuning.simulated:
        measured = _("{launches} cases of {ranks} ranks")
    elif not conditions.ranks:  # of layouts, each of which has its own number
        measured = ngettext("{count} launch", "{count} launches", conditions.launches)
    table.add_row(
        _("simulated") if tuning.simulated else _("measured in"),
        measured.format(count=conditions.launches, launches=conditions.launches, ranks=ranks),
    )
    found = {finding.text for finding in tuning.finding}
    for note in conditions.notes:
        if note not in found:
            table.add_row(_("note"), Text(translated(note)))
    return table


def _plans(tuning: Tuning, nodes: int, ppn: int, best: Plan) -> Group:
    title = (
        _("Launch setting predicted for {nodes} x {ppn} ranks, which were not measured")
        if best.predicted
        else _("Launch settings, {nodes} x {ppn} ranks")
    )
    plans = list(tuning.plans_for(nodes, ppn))
    names = [words.launch(plan.launch) for plan in plans]
    below = max(map(len, names), default=0) > _NAME_MOST
    table = Table(title=title.format(nodes=nodes, ppn=ppn), title_justify="left")
    table.add_column("")
    table.add_column(_("setting"), overflow="fold", justify="right" if below else "left")
    collectives = [name for name in tuning.collectives() if any(name in plan.gain for plan in plans)]
    beside = collectives if len(collectives) <= _COLUMNS_MOST else []
    for name in beside:
        table.add_column(name, justify="right", overflow="fold")
    joint = any(plan.joint for plan in plans)
    if joint:
        table.add_column(_("together"), justify="right", overflow="fold")
    for number, (name, plan) in enumerate(zip(names, plans, strict=True), 1):
        table.add_row(
            ">" if plan is best else "",
            Text(str(number) if below else name),
            *(_gain(plan.gain.get(name)) for name in beside),
            *([_gain(plan.joint.gain if plan.joint else None)] if joint else []),
            style="bold" if plan is best else "",
        )
    said = "".join(f"{number}: {name}\n" for number, name in enumerate(names, 1)) if below else ""
    said += _("gain over the default (time of the default / time with this setting); > marks the setting to use")
    if best.needs_library:
        said += "\n" + _(
            "our library: unisono run puts libunisono.so into the ranks, where it serves the calls by the rules below"
        )
        if (plain := without_library(tuning, nodes, ppn)) is not None:
            said += _("; without it the best is {launch}").format(launch=words.launch(plain.launch))
    shown = _with_words(table, said)
    return shown if beside or not collectives else Group(shown, Text(), _each(best, collectives))


def _each(best: Plan, collectives: Iterable[str]) -> Table:
    """What the setting to use gains for each collective."""
    table = Table(title=_("Gain of the setting to use"), title_justify="left")
    table.add_column(_("collective"))
    table.add_column(_("gain"), justify="right")
    for name in collectives:
        table.add_row(name, _gain(best.gain.get(name)))
    return table


def _with_words(table: Table, said: str) -> Group:
    """Words below a table, as wide as the page: a caption would be broken where a narrow table ends."""
    return Group(table, *([Text(said, style="table.caption")] if said else []))


def _rules(tuning: Tuning, plan: Plan) -> Group:
    title = (
        _("What to use with the default launch setting")
        if plan.launch.is_default
        else _("What to use under {launch}").format(launch=words.launch(plan.launch))
    )
    table = Table(title=title, title_justify="left")
    for name in (_("collective"), _("message size")):
        table.add_column(name)
    table.add_column(_("use"), overflow="fold")
    table.add_column(_("gain"), justify="right")
    at = _("simulated at") if tuning.simulated else _("measured at")
    table.add_column(_("predicted at") if plan.predicted else at, overflow="fold")
    if plan.predicted:
        table.add_column(_("sure"), justify="right")
    last = ""
    for rule in plan.rules:
        name = rule.collective if rule.collective != last else ""
        last = rule.collective
        measured = ", ".join(map(format_size, rule.sizes))
        table.add_row(
            name,
            words.sizes(rule.first, rule.last),
            Text(translated(sums.use(rule.call, rule.collective, tuning.study.reproducible) or words.use(rule.call))),
            _gain(rule.gain),
            measured,
            *_sure(rule),
        )
    if not plan.rules:
        names: dict[str, list[str]] = {}
        for name in plan.gain:
            names.setdefault(sums.use({}, name, tuning.study.reproducible), []).append(name)
        for use, those in names.items():
            of = ", ".join(those) if any(names) else _("all")
            table.add_row(of, _("all sizes"), translated(use) or words.by_itself(), "", "")
    said = [_("sure: the probability that no other setting is more than 5% faster")] if plan.predicted else []
    if not plan.predicted and any(rule.gain.low <= 1 <= rule.gain.high and not rule.gain.exact for rule in plan.rules):
        said.append(
            _(
                "An interval that contains 1: at these sizes the gain over the default is not proven. The rule is "
                "there because it beats what else this launch setting can use."
            )
        )
    if any(is_ours(rule.call) for rule in plan.rules):
        said.append(_("our ...: an algorithm of our library; docs/collectives.md explains the names"))
    return _with_words(table, "\n".join(said))


def _sure(rule: Rule) -> list[str]:
    """Of a predicted rule: its last column."""
    return [] if rule.basis == "measured" else ["-" if rule.sure is None else f"{rule.sure:.0%}"]


def _proof(tuning: Tuning) -> Table:
    table = Table(title=_("Proof: default against tuned, on fresh launches in turns"), title_justify="left")
    for name in (_("collective"), _("ranks")):
        table.add_column(name)
    for name in (_("default / tuned"), _("launches")):
        table.add_column(name, justify="right")
    table.add_column(_("verdict"))
    for case in tuning.proof:
        each = _("{count} each").format(count=case.launches) if case.launches else "-"
        table.add_row(
            case.collective, f"{case.nodes} x {case.ppn}", _gain(case.gain), each, words.verdict(case.verdict)
        )
    return table


def slower(proof: Iterable[sums.Proven], folder: str = "DIR", level: str | None = None) -> str:
    """What to do where the proof refutes the decision, a sentence; "" where it does not. `folder`: the study's. What
    is reproducible by `level` may be slower: that is its price."""
    cases = [
        f"{one.collective} ({one.nodes} x {one.ppn})"
        for one in proof
        if one.verdict == "slower" and not sums.is_promised(one.collective, level)
    ]
    if not cases:
        return ""
    return _(
        "The tuning was slower than the default in these launches: {cases}. The result of the study did not hold "
        "there: measure longer and on a quiet machine (unisono tune --resume -o {folder} --budget 20m), or do "
        "not use the tuning."
    ).format(cases=listed(cases), folder=folder)


def _layouts(tuning: Tuning) -> Table:
    table = Table(title=_("Layouts: how many processes of how many threads"), title_justify="left")
    table.add_column(_("measured with"), overflow="fold")
    table.add_column(_("nodes"), justify="right")
    table.add_column(_("layout"), overflow="fold")
    table.add_column(_("gain"), justify="right")
    for layout in tuning.layout:
        gain = _gain(layout.gain) if layout.proven else Text(_("nothing proven faster"))
        table.add_row(Text(layout.program), str(layout.nodes), Text(layout.words), gain)
    references = ", ".join(dict.fromkeys(translated(layout.reference) for layout in tuning.layout))
    table.caption = _("gain over {references}; unisono run --layout applies it").format(references=references)
    table.caption_justify = "left"
    return table


def _gain(gain: Interval | None) -> Text:
    if gain is None:
        return Text("-")
    style = "green" if gain.low > 1 else "red" if gain.high < 1 else ""
    return Text(gain_words(gain), style=style)
