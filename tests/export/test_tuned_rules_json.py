"""The rules for Open MPI 6 say what the classic file says to Open MPI 5."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tuning.samples import machine, tuning
from unisono.core.errors import UserError
from unisono.export import export, keyval
from unisono.export import tuned_rules_json as rules_json
from unisono.export.compiled import compile_rules, plans_under
from unisono.export.tuned_rules import CollectiveRules, CommRules, MessageRule, RulesFile

MESSAGES = st.lists(st.integers(1, 50), unique=True, max_size=4).flatmap(
    lambda sizes: st.tuples(
        *(st.builds(MessageRule, st.just(size), st.integers(0, 9), st.integers(0, 4)) for size in [0, *sorted(sizes)])
    )
)
COMMS = st.lists(st.integers(0, 12), unique=True, min_size=1, max_size=4).flatmap(
    lambda sizes: st.tuples(*(st.builds(CommRules, st.just(size), MESSAGES) for size in sorted(sizes)))
)


@given(COMMS)
def test_every_call_gets_the_same_algorithm_as_from_the_classic_file(comms: tuple[CommRules, ...]) -> None:
    classic = RulesFile((CollectiveRules("allreduce", comms),))
    read = rules_json.read(rules_json.write(classic), "f")
    for ranks in range(1, 15):
        for size in range(60):
            old, new = classic.select("allreduce", ranks, size), read.select("allreduce", ranks, size)
            assert (old.algorithm if old else 0) == (new.alg if new else 0)
            assert new is None or old is None or old.fan == new.faninout


@pytest.mark.parametrize("format", ["openmpi", "shell", "mpirun"])
def test_open_mpi_6_gets_json_and_never_the_classic_file(format: str, tmp_path: Path) -> None:
    document, six = tuning(), machine("6.0.0")
    export(document, format, document.plan[0], machine(), tmp_path)
    assert (tmp_path / "openmpi-rules.conf").exists()
    paths = export(document, format, document.plan[0], six, tmp_path)
    written = tmp_path / "openmpi-rules.json"
    assert written in paths
    assert not (tmp_path / "openmpi-rules.conf").exists()
    found = rules_json.read(written.read_text(), "f")
    assert six.mpi is not None
    classic, _notes = compile_rules(plans_under(document, document.plan[0]), six.mpi)
    for collective in classic.collectives:
        for size in (1, 1000, 100_000, 10_000_000):
            old = classic.select(collective.collective, document.plan[0].ranks, size)
            new = found.select(collective.collective, document.plan[0].ranks, size)
            assert (old.algorithm if old else 0) == (new.alg if new else 0)
    assert any("openmpi-rules.json" in path.read_text() for path in paths if path != written)
    if format == "openmpi":
        values = keyval.read((tmp_path / "openmpi-mca-params.conf").read_text(), "f")
        assert values["coll_tuned_dynamic_rules_filename"] == str(written)
    again = export(document, format, document.plan[0], machine(), tmp_path)
    assert not written.exists(), "a file that nothing names any more"
    assert tmp_path / "openmpi-rules.conf" in again


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"collectives": {"alltoal": []}}, "'alltoal' is no collective"),
        ({"module": "han"}, "module"),
        ({"collectives": {"bcast": [{"rules": [{"alg": "6"}]}]}}, "alg"),
    ],
)
def test_what_open_mpi_would_drop_in_silence_is_said(change: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        rules_json.read(json.dumps({"rule_file_version": 3, "module": "tuned", "collectives": {}, **change}), "f")
