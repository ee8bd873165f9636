"""A platform is found again from times that it gave, and the error of a fit is what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unisono.commands.simulate_tune import Wishes, simulate_tune
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, Case
from unisono.simulate.files import platform
from unisono.simulate.fit import fit, simulated
from unisono.simulate.platforms import Number
from unisono.simulate.programs import unavailable
from unisono.simulate.study import _statistics, machine_of
from unisono.study.store import Store

reason = unavailable()
SIZES = dict.fromkeys((8, 4096, 1 << 18), 0.0)
TRUE = replace(
    platform("oci-bm-optimized3-36"),
    bandwidth=Number(3e9, "test"),
    latency=Number(4e-6, "test"),
    node_bandwidth=Number(1.5e9, "test"),
    node_latency=Number(0.9e-6, "test"),
)
ASKED = {
    "platform": None, "nodes": None, "ppn": None, "collectives": ["bcast"], "sizes": ["8"], "algorithms": ["leader"],
    "selector": "ompi", "deadline": "60s", "resume": False, "json": True,
}  # fmt: skip


def _study(path: Path, cases: list[Case], slower: float = 1.0) -> Path:
    """As if measured: what the true platform takes; `slower` makes allreduce alone take so many times longer."""
    meta = {"margin": 0.03, "confidence": 0.95, "weights": {}, "scope": []}
    machine = machine_of(TRUE).model_copy(update={"source": "imported"})
    times = simulated(TRUE, {(case, DEFAULT): SIZES for case in cases})
    made = Store.create(path, name="made", config="{}", method="race", machine=machine, meta={**meta, "imported": []})
    with made as store:
        for (case, setting), found in times.items():
            launch = store.begin_launch(setting, case.nodes, case.ppn, 1, "made", False)
            for size, seconds in found.items():
                factor = slower if case.collective == "allreduce" else 1.0
                statistics = replace(_statistics(seconds * factor), sync="imported")
                store.add_sample(launch, case.collective, size, setting, statistics, b"")
            store.end_launch(launch, "done", "", 1.0)
    return path


@pytest.mark.skipif(reason is not None, reason=f"SimGrid: {reason}")
def test_a_platform_is_found_again(tmp_path: Path) -> None:
    cases = [Case("bcast", 1, 2), Case("bcast", 4, 1)]
    found = fit(_study(tmp_path / "study.db", cases))
    for name in ("node_latency", "node_bandwidth", "latency", "bandwidth"):
        number = found.platform.numbers[name]
        assert number.fitted and number.value == pytest.approx(TRUE.numbers[name].value, rel=0.1), name
    assert all(error.factor < 1.1 and error.mean == pytest.approx(1, abs=0.05) for error in found.errors)
    assert found.platform.copy.assumed


@pytest.mark.skipif(reason is not None, reason=f"SimGrid: {reason}")
def test_the_error_is_stated_with_the_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No platform has both: one collective is as simulated, the other three times slower."""
    study = _study(tmp_path / "study.db", [Case("bcast", 1, 2), Case("allreduce", 1, 2)], slower=3.0)
    wishes = Wishes(study=study, output=tmp_path / "out", **ASKED)  # type: ignore[arg-type]
    assert simulate_tune(replace(wishes, nodes="1")) == 0
    assert "times the measured time in the mean, typically off by a factor of" in capsys.readouterr().err
    written = platform(str(tmp_path / "out" / "platform.toml"))
    factors = {words.split()[0]: float(words.split()[-3]) for words in written.error.split("; ")}
    assert np.prod(list(factors.values())) > 1.5, "an error of three is not fitted away"
    with Store.open(tmp_path / "out" / "study.db") as store:
        assert any(written.error in note for note in store.notes())
    with pytest.raises(UserError, match="describes no network between nodes"):
        simulate_tune(replace(wishes, nodes="2", output=tmp_path / "two"))


def test_who_interrupts_a_fit_leaves_no_simulation_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    ended: list[bool] = []
    monkeypatch.setattr("unisono.simulate.run.Run.results", interrupted)
    monkeypatch.setattr("unisono.simulate.fit.end_running", lambda: ended.append(True))
    with pytest.raises(KeyboardInterrupt):
        simulated(TRUE, {(Case("bcast", 1, 2), DEFAULT): SIZES})
    assert ended


def test_what_a_platform_cannot_be_fitted_to(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name the machine with --platform NAME or with --from"):
        simulate_tune(Wishes(study=None, output=tmp_path, **ASKED))  # type: ignore[arg-type]
