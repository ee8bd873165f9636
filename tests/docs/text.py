"""The commands of a page, as a reader would copy them, and what the page says that they print."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ALIKE = 0.6
"""How much of a line of a page a line that was printed has to share, numbers apart, to be of its kind."""
_ENOUGH = 0.7
"""Part of a page's lines that what was printed has to have: a table has as many rows as there is to show."""


@dataclass(frozen=True)
class Command:
    page: Path
    text: str
    """One line, to be given to a shell."""
    output: tuple[str, ...]
    """What the page shows below it; () where it shows nothing."""

    @property
    def words(self) -> list[str]:
        """Without comments. Raises ValueError where quotes do not end."""
        return shlex.split(self.text, comments=True)

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}: {' '.join(self.text.split())}"


def commands(page: Path) -> list[Command]:
    """In the order of the page. A block without a language below a block of commands is what the last one prints."""
    found: list[Command] = []
    last: Command | None = None
    for language, text in _blocks(page):
        if language == "sh":
            lines = text.replace("\\\n", " ").splitlines()
            found += [Command(page, line, ()) for line in lines if line.strip()]
            last = found[-1]
        elif not language and last is not None:
            found[-1] = Command(page, last.text, tuple(line for line in text.splitlines() if line.strip()))
            last = None
    return found


def files(page: Path, first: str) -> str:
    """The text of the page's block that begins so: a file that a command reads."""
    return next(text for _, text in _blocks(page) if text.startswith(first))


def _blocks(page: Path) -> Iterator[tuple[str, str]]:
    return ((match[1], match[2]) for match in _FENCED.finditer(page.read_text(encoding="utf-8")))


def kind(line: str) -> list[str]:
    """A line's words without numbers, and without what draws tables."""
    words = re.findall(r"[^\W\d_]+|#", re.sub(r"\d[\d.,e+-]*", "#", line))
    return [word for word in words if word != "#"]


def missing(expected: tuple[str, ...], printed: str, enough: float = _ENOUGH) -> list[str]:
    """The lines of a page of whose kind nothing was printed; [] where enough of the page is there."""
    have = [words for line in printed.splitlines() if (words := kind(line))]
    whole = kind(" ".join(printed.split()))
    lost = [line for line in expected if kind(line) and not _there(kind(line), have, whole)]
    return lost if len(lost) > (1 - enough) * len(expected) else []


def _there(words: list[str], have: list[list[str]], whole: list[str]) -> bool:
    text = " ".join(words)
    if text in " ".join(whole):  # a sentence may be broken elsewhere
        return True
    return any(SequenceMatcher(None, words, other).ratio() >= _ALIKE for other in have)
