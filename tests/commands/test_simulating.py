"""`unisono hybrid --simulate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.program import refused, unisono
from unisono.simulate.files import names
from unisono.simulate.programs import unavailable

reason = unavailable()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["k"], "--simulate k: is not a machine that can be simulated; write one of t2k and xt4"),
        (["t2k", "--cores", "24"], "24 cores: T2K has nodes of 16"),
        (["t2k", "--cores", "8192"], "at most 4096 cores can be simulated"),
        (["t2k", "--cores", "many"], "--cores many"),
        (["xt4", "--cores", "24"], "a power of two does"),
        (["t2k", "--links", "5"], "--links 5: T2K has 4"),
        (["t2k", "--layouts", "2x4"], "T2K's have 16"),
        (["t2k", "--packing", "none"], "--packing none: is unknown; write single, threads or both"),
        (["t2k", "--", "./app"], "only the solver"),
    ],
)
def test_bad_input_is_one_line(words: list[str], sentence: str, tmp_path: Path) -> None:
    assert sentence in refused(unisono("hybrid", "-o", tmp_path, "--simulate", *words))


def test_platforms_have_a_line_each() -> None:
    done = unisono("simulate", "platforms")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and [line.split()[0] for line in lines] == names()
    assert any("PRIMEHPC FX10: 384 nodes of 16 cores, a torus of 8x8x6; 5 of 6 numbers assumed" in s for s in lines)


@pytest.mark.skipif(reason is not None, reason=f"SimGrid: {reason}")
def test_layouts_of_a_small_cube(tmp_path: Path) -> None:
    words = ("hybrid", "--simulate", "t2k", "--size", "48", "--cores", "64", "--layouts", "flat,4x4", "-o", tmp_path)
    done = unisono(*words, "--links", "4,1", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert [(row["layout"], row["links"]) for row in said["results"]] == [
        ("1x16", 4), ("1x16", 1), ("4x4", 4), ("4x4", 1),
    ]  # fmt: skip
    flat, one_link, *_ = (row["speed_up"] for row in said["results"])
    assert 32 < flat < one_link
    assert said["numbers"]["message"]["source"].startswith("fitted")
    assert all(row["document"] is None for row in said["results"])
    assert (tmp_path / "simulated-t2k.svg").read_text().startswith("<svg")
