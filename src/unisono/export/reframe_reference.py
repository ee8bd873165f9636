"""Reference values as ReFrame takes them: a Python module with one dictionary, written and read."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.export.spread import Expected

Reference = tuple[float, float | None, float | None, str]
"""Value, lower and upper bound as parts of it (None: there is none), unit."""

_NAME = "REFERENCE"


def write(values: Sequence[Expected], ranks: str, comments: Sequence[str]) -> str:
    """`REFERENCE` for any system and partition. `ranks` is part of each name: "1x4"."""
    lines = ['"""Times of collectives, to be used as `reference = REFERENCE` of a ReFrame test.', ""]
    lines += [line.replace("\\", "/").replace('"""', "'''").rstrip() for line in comments]
    lines += ['"""', "", f"{_NAME} = {{", '    "*": {']
    for value in values:
        name = f"{value.collective}_{value.size}_{ranks}"
        # Rounded outwards: a bound must not become narrower than the spread.
        upper = math.ceil(value.slower * 1000) / 1000
        lines.append(
            f'        "{name}": ({value.seconds * 1e6:.6g}, None, {upper:.3f}, "us"),  # {value.launches} launches'
        )
    return "\n".join([*lines, "    },", "}"]) + "\n"


def read(text: str, where: str) -> dict[str, Reference]:
    """Name -> reference of any system. Raises UserError for a file that is not one dictionary of such tuples."""
    form = f"{_NAME} = {{'*': {{NAME: (VALUE, LOWER, UPPER, UNIT)}}}}"
    try:
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [_NAME]:
                return {name: _reference(value) for name, value in ast.literal_eval(node.value)["*"].items()}
    except (SyntaxError, ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise UserError(_("{where}: line {line}: is not {form}").format(where=where, line=line, form=form)) from error
    raise UserError(_("{where}: there is no {form}").format(where=where, form=form))


def _reference(value: tuple[object, ...]) -> Reference:
    number, lower, upper, unit = value
    if not isinstance(number, float | int) or not isinstance(unit, str):
        raise TypeError
    if not all(bound is None or isinstance(bound, float | int) for bound in (lower, upper)):
        raise TypeError
    return float(number), lower, upper, unit  # type: ignore[return-value]
