"""What tests cost, for who makes them faster: `pytest --cpu N` ends with the N files that take most processor seconds.

pytest's own --durations are seconds by the clock, which on a busy machine say most about the others. These are of the
process and of the programs it started and waited for, so they hold beside other work, and with pytest-xdist.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator

import pytest

_NAME = "cpu"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cpu", type=int, default=0, metavar="N", help="show the N files that take most processor seconds"
    )


def _used() -> float:
    """Processor seconds of this process and of all children that ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    item.stash[_STARTED] = _used()
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Kept with the test's last report, so that it comes from every worker: set-up, the test and what ends it."""
    if call.when == "teardown":
        item.user_properties.append((_NAME, _used() - item.stash[_STARTED]))


_STARTED = pytest.StashKey[float]()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Seconds, tests and the test that took most of them, file by file."""
    wanted = terminalreporter.config.getoption("cpu")
    files: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.when == "teardown":
                own = (value for name, value in report.user_properties if name == _NAME)
                seconds = sum(value for value in own if isinstance(value, float))
                files[report.location[0]].append((seconds, report.nodeid.partition("::")[2]))
    if not wanted or not files:
        return
    rows = sorted(((sum(seconds for seconds, _ in tests), file, tests) for file, tests in files.items()), reverse=True)
    terminalreporter.section("processor seconds")
    terminalreporter.write_line(f"{sum(row[0] for row in rows):7.1f}  all {len(rows)} files")
    for total, file, tests in rows[:wanted]:
        most, name = max(tests)
        terminalreporter.write_line(f"{total:7.1f}  {file} ({len(tests)}; {most:.1f} {name})")
