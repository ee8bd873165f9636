"""Damaged reports, for every reader of text: lines lost, doubled and cut, words replaced by other words."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from unisono.core.errors import UserError
from unisono.profile.check import problem
from unisono.profile.document import as_dict
from unisono.profile.file import load, save
from unisono.profile.importers import import_profile

_WORDS = ("", "-1", "nan", "inf", "1e309", "1,2,3", "0", "9" * 30, "*", "@", "[unknown]", "0x12", "1_0", "é", "-", "/")


@st.composite
def damaged(draw: st.DrawFn, whole: str) -> str:
    """`whole` with a few changes that keep its first line."""
    lines = whole.splitlines()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(1, len(lines) - 1))
        how = draw(st.sampled_from(["drop", "double", "cut", "word", "swap", "end"]))
        if how == "drop":
            del lines[at]
        elif how == "double":
            lines.insert(at, lines[at])
        elif how == "cut":
            lines[at] = lines[at][: draw(st.integers(0, 60))]
        elif how == "word":
            words = lines[at].split(" ")
            words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(_WORDS))
            lines[at] = " ".join(words)
        elif how == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            del lines[max(2, at) :]
        if len(lines) < 3:
            break
    return "\n".join(lines) + "\n"


def reads_or_says_why(path: Path, text: str) -> None:
    """Whatever the text is: a sound profile that can be shown, or one line of what is wrong."""
    path.write_text(text, encoding="utf-8")
    try:
        profile = import_profile(path)
    except UserError as error:
        assert "\n" not in str(error)
        assert str(path) in str(error)
        return
    assert problem(profile) == ""
    as_dict(profile)
    save(profile, path)
    load(path)
