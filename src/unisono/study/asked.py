"""The study that a command line asks for: found by name or path, with what the options say otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from unisono.core.errors import UserError
from unisono.core.fields import collectives_given
from unisono.core.language import _
from unisono.core.names import close_names
from unisono.core.sizes import parse_size
from unisono.core.toml import explain_validation
from unisono.core.vocabulary import CALL_SCOPE, Level
from unisono.study.config import Study, parse_duration, read_study, ready_made, ready_made_names


def find(name: str) -> Study:
    """A study file, or a ready-made one by name. Raises UserError when it is neither."""
    path = Path(name)
    if not path.is_file():
        known = ready_made(name)
        if known is None:
            names = ", ".join(ready_made_names())
            near = close_names(name, ready_made_names())
            said = _("{name}: no such study file; ready-made studies are {names}")
            if near:
                said = _("{name}: no such study file; did you mean {near}? Ready-made studies are {names}")
            raise UserError(said.format(name=name or _("no name"), near=near[0] if near else "", names=names))
        path = known
    return read_study(path)[0]


def narrowed(
    study: Study,
    *,
    method: str | None,
    budget: str | None,
    collectives: Sequence[str],
    nodes: Sequence[int],
    ppn: int | None,
    sizes: Sequence[str],
    oversubscribe: bool,
    benchmark: str | None = None,
    program: str | None = None,
    reproducible: Level | None = None,
) -> Study:
    """The study with what the command line says otherwise. Raises UserError as a study file would."""
    document = study.model_dump(by_alias=True)
    if collectives:
        names = document["cases"]["collectives"] = collectives_given(collectives, "--collective")
        document["weights"] = {name: w for name, w in study.weights.items() if name in names}
    if nodes:
        document["cases"]["nodes"] = list(nodes)
    if ppn is not None:
        document["cases"]["ppn"] = [ppn]
    if oversubscribe:
        document["cases"]["oversubscribe"] = True
    if sizes:
        wanted = sorted({parse_size(size, "--size") for size in sizes})
        if wanted[0] == 0 and any(name != "barrier" for name in document["cases"]["collectives"]):
            raise UserError(_("--size 0: only a barrier sends nothing; write for example 8, 16K or 1M"))
        document["sizes"] = {"from": wanted[0], "to": wanted[-1], "step": 1e300, "extra": wanted}
    if program is not None:
        document["measure"]["program"] = program
    if reproducible is not None:
        document["method"]["reproducible"] = reproducible
    if benchmark is not None:
        document["measure"]["benchmark"] = benchmark
        method = "classic" if benchmark != "unisono" and method is None else method
    if method is not None:
        document["method"]["name"] = method
        if method == "classic" and study.method.name == "race":
            # The classic procedure: five launches of everything, and no budget (--budget sets one).
            document["method"].update(budget=None, launches=5)
    if budget is not None:
        document["method"]["budget"] = parse_duration(budget, "--budget")
    try:
        return Study.model_validate(document)
    except ValidationError as error:
        raise UserError(explain_validation(_("command line"), error)) from error


def scope(study: Study) -> tuple[str, ...]:
    """What is switched inside launches: nothing in the classic procedure, where each setting has its launch."""
    return () if study.method.name == "classic" else CALL_SCOPE


def budget(study: Study, said_now: str | None) -> float | None:
    """Seconds this run of the driver may measure, by what was asked for."""
    return parse_duration(said_now, "--budget") if said_now is not None else study.method.budget
