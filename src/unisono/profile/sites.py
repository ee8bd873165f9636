"""Hot spots that read alike told apart: by the line of the program, or the offset in its file, that called."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from unisono.profile.recorded import Frame, Profile


def sites(profile: Profile, rows: Sequence[tuple[Hashable, int]]) -> list[str]:
    """For rows of (what a reader sees, path): "" where no other row reads the same, else the frames in which their call
    paths differ, innermost first: "main is.c:871". "" also where nothing is known that differs."""
    alike: dict[Hashable, list[list[Frame]]] = {}
    for key, path in rows:
        chain = list(profile.chain(path))
        if chain not in alike.setdefault(key, []):
            alike[key].append(chain)
    return [_site(list(profile.chain(path)), alike[key]) for key, path in rows]


def _site(chain: list[Frame], others: Sequence[list[Frame]]) -> str:
    words: list[str] = []
    left = [other for other in others if other != chain]
    for depth, frame in enumerate(chain):
        differing = [other for other in left if depth >= len(other) or other[depth] != frame]
        if differing:
            alike = any(depth < len(other) and _where(other[depth]) == _where(frame) for other in differing)
            words.append(_where(frame) + (f" {_offset(frame)}" if alike and frame.line else ""))
            left = [other for other in left if other not in differing]
        if not left:
            break
    return " < ".join(words)


def _where(frame: Frame) -> str:
    place = frame.place if frame.line else _offset(frame)
    return f"{frame.label} {place}" if place and place != frame.label else frame.label


def _offset(frame: Frame) -> str:
    """What tells calls apart that a compiler gives the same line."""
    return f"{frame.module or '?'}+{frame.offset:#x}" if frame.offset >= 0 else ""
