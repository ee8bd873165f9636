"""Which names and values a setting in a tuning may hold.

A misspelt parameter would be handed to the MPI, which ignores what it does not know without a word; so a tuning is
refused when a name is neither one we know, nor begins like a parameter of an Open MPI framework or a UCX variable.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from unisono.core.language import _
from unisono.core.names import close_names
from unisono.core.vocabulary import Setting
from unisono.mpi import ASSUMED
from unisono.parameters.catalogue import load
from unisono.parameters.spelling import is_environment

_MCA = re.compile(
    r"(accelerator|allocator|bml|btl|coll|common|fbtl|fcoll|fs|hook|hwloc|io|mca|memory|mpi|mpool|mtl|ompi|opal|op|osc|"
    r"part|patcher|pml|pmix|rcache|sharedfp|smsc|threads|topo|vprotocol)(_[a-z0-9_]+)?"
)
"""The frameworks of Open MPI 4.1 and 5.0 (ompi/mca, opal/mca), and its own layers."""

_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def check_value_names(setting: Setting, allowed: Collection[str] | None = None) -> None:
    """Raises ValueError for a parameter that cannot be one (`allowed`: the only names there may be), or a value that
    no command line or configuration file could carry."""
    for name, value in setting.items():
        if allowed is not None and name not in allowed:
            raise ValueError(
                _("unknown parameter {name!r}; allowed here: {allowed}").format(name=name, allowed=", ".join(allowed))
            )
        if allowed is None and not is_parameter(name):
            near = close_names(name, load(ASSUMED.FAMILY))
            sentence = (
                _("unknown parameter {name!r}; did you mean {near}?")
                if near
                else _("unknown parameter {name!r}; write a UCX_ variable, pml, coll or an MCA name")
            )
            raise ValueError(sentence.format(name=name, near=near[0] if near else ""))
        if not value.strip():
            raise ValueError(_("{name}: has no value").format(name=name))
        if _CONTROL.search(value):
            raise ValueError(_("{name}: {value!r} holds a control character").format(name=name, value=value))


def is_parameter(name: str) -> bool:
    """Whether a launch can be given a parameter of this name at all."""
    if is_environment(name):
        return _ENVIRONMENT.fullmatch(name) is not None
    known = load(ASSUMED.FAMILY).get(name)
    return (known is not None and known.scope != "boot") or _MCA.fullmatch(name) is not None
