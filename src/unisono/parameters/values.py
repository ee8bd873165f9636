"""Whether a value is one its parameter can take, before a launch is spent on finding out.

Sources: UCX, ucs/config/parser.c (memory units: a number and b, k, kb, m ...; auto; inf) and ucp_context.c (thresholds
apart for one node and several: intra:16kb,inter:128kb); Open MPI, mca_base_var.c (integers, with k, m or g after them).
"""

from __future__ import annotations

import re

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.parameters.parameter import Parameter

_MEMORY = r"(?:auto|inf|\d+(?:\.\d+)?(?:b|[kmgt]b?)?)"
_FORMS = {
    "thresholds": re.compile(rf"{_MEMORY}|(?:intra|inter):{_MEMORY}(?:,(?:intra|inter):{_MEMORY})?", re.IGNORECASE),
    "integer": re.compile(r"-?\d+[kmg]?", re.IGNORECASE),
}
_EXAMPLES = {
    "thresholds": N_("write for example 16kb, auto, inf or intra:16kb,inter:128kb"),
    "integer": N_("write a whole number, such as 4096 or 4k"),
}


def require_value(parameter: Parameter, value: str) -> None:
    """Raises UserError, with an example, for a value this parameter cannot take; nothing is refused unless known."""
    if parameter.takes is not None and not _FORMS[parameter.takes].fullmatch(value):
        raise UserError(
            _("{name}: {value!r} is not a value it takes; {examples}").format(
                name=parameter.name, value=value, examples=_EXAMPLES[parameter.takes]
            )
        )
