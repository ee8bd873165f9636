"""Numbers that tests count, summed and printed at the end of a run: what a night has tried."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Protocol

import pytest


class Tally(Protocol):
    """Adds counts, by name, under a heading."""

    def __call__(self, heading: str, **counts: int) -> None: ...


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Tally:
    """Kept with the test's report, so that it comes from every worker, and of tests that fail too."""

    def add(heading: str, **counts: int) -> None:
        record_property("tally", (heading, counts))

    return add


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line a heading."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                for _, (heading, counts) in (entry for entry in report.user_properties if entry[0] == "tally"):
                    sums[heading].update(counts)
    if sums:
        terminalreporter.section("tried")
    for heading, counts in sums.items():
        said = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
        terminalreporter.write_line(f"{heading}: {said}")
