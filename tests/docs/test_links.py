"""Every link of a page to the repository leads to a file that is there, and to a heading that it has."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.text import ROOT

_LINK = re.compile(r"(?<!`)\]\((?!https?:|mailto:)([^)\s#]*)(#[^)\s]*)?\)")
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ +(.*?)\s*#*$", re.MULTILINE)


def _pages() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return [ROOT / name for name in listed.stdout.splitlines()] or sorted(ROOT.glob("*.md"))


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings: lower case, without punctuation, hyphens for spaces, numbered where alike."""
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number, name = 0, slug
        while name in found:
            number += 1
            name = f"{slug}-{number}"
        found.add(name)
    return found


@pytest.mark.parametrize("page", _pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    lost = []
    for target, anchor in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        there = (page.parent / target).resolve() if target else page
        if not there.exists() or (anchor and there.suffix == ".md" and anchor[1:] not in _anchors(there)):
            lost.append(target + anchor)
    assert not lost


def test_a_lost_link_is_found(tmp_path: Path) -> None:
    assert _LINK.findall("see [one](a.md#b) and [two](#c), not [three](https://x.y/z)") == [("a.md", "#b"), ("", "#c")]
    page = tmp_path / "page.md"
    page.write_text("## What the names mean\n# Run `it`\n```sh\n# no heading\n```\n# Run it?\n")
    assert _anchors(page) == {"what-the-names-mean", "run-it", "run-it-1"}
