"""What a tuning says, in words for people."""

from __future__ import annotations

from collections.abc import Mapping

from unisono.model import PRELOAD, Setting, is_ours
from unisono.sizes import format_size

BY_ITSELF = "what the MPI does by itself"


def use(call: Mapping[str, str]) -> str:
    """A rule's call: "our pull, segments of 16 KiB", "tuned ring", "component sm", "what the MPI does by itself"."""
    if not call:
        return BY_ITSELF
    if is_ours(call):
        words = f"our {call['algorithm']}"
    elif "algorithm" in call:
        words = f"tuned {call['algorithm']}"
    else:
        words = f"component {call['coll']}"
    if "segment" in call:
        words += f", segments of {format_size(int(call['segment']))}"
    return words


def launch(setting: Setting) -> str:
    """A plan's launch setting: "default", "pml=ucx with our library", "our library"."""
    if PRELOAD not in setting:
        return str(setting)
    rest = setting.without(PRELOAD)
    return f"{rest} with our library" if rest else "our library"
