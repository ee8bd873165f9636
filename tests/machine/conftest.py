"""The two-socket trees, written once: thousands of small files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine import trees


@pytest.fixture(scope="session")
def epyc_nps4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trees.epyc(tmp_path_factory.mktemp("epyc"))


@pytest.fixture(scope="session")
def xeon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trees.xeon(tmp_path_factory.mktemp("xeon"))
