"""`unisono simulate platforms`: the machines that can be simulated."""

from __future__ import annotations

from typing import Any

from unisono.commands.console import err, out, print_json
from unisono.core.language import _
from unisono.simulate.files import names, platform, solver_names
from unisono.simulate.programs import unavailable


def platforms(*, json: bool) -> None:
    """A line each; with `json` everything that their files say."""
    found = {name: platform(name) for name in names()}
    solver = solver_names()
    if json:
        rows: list[dict[str, Any]] = [
            {
                "name": name, "machine": one.name, "about": one.about, "source": one.source, "kind": one.kind,
                "nodes": one.nodes, "cores": one.cores, "left_out": list(one.left_out), "solver": name in solver,
                "numbers": {key: {"value": n.value, "source": n.source} for key, n in one.numbers.items()},
            }
            for name, one in found.items()
        ]  # fmt: skip
        print_json(rows)
        return
    width = max(map(len, found))
    for name, one in found.items():
        stated = [number for number in one.numbers.values() if number.value]
        words = _("{machine}: {about}; {assumed} of {all} numbers assumed").format(
            machine=one.name, about=one.about, assumed=sum(n.assumed for n in stated), all=len(stated)
        )
        out().print(f"{name:{width}}  {words}", markup=False, soft_wrap=True)
    err().print(
        _("--json has every number with its source, and what is left out. A file of your own goes by its path."),
        markup=False,
    )
    if reason := unavailable():
        err().print(_("Nothing can be simulated here: {reason}").format(reason=reason), markup=False)
