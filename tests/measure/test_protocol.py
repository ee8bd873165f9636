from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.core.errors import LaunchError
from unisono.core.quantiles import quantiles
from unisono.measure.protocol import (
    Limits,
    Timing,
    parse_hello,
    parse_limits,
    parse_line,
    parse_sample,
)

HELLO: dict[str, Any] = {
    "hello": 1,
    "protocol": 1,
    "mpi": "Open MPI v5.0.11",
    "ranks": 1,
    "nodes": 1,
    "oversubscribed": False,
    "sync": "clock",
    "where": [{"rank": 0, "host": "a", "node": 0, "cpus": [0, 1], "numa": [0], "pid": 7}],
    "memory_available": 1000,
    "mpi_t": True,
}
SAMPLE: dict[str, Any] = {
    "sample": 2,
    "coll": "bcast",
    "bytes": 8,
    "reps": 3,
    "discarded": 1,
    "sync": "clock",
    "correct": True,
    "times_ns": [300, 100, 200],
    "entry_spread_ns": 20,
}
LIMITS: dict[str, Any] = {
    "limits": 1,
    "pairs": [[0, 1, 90.5]],
    "latency_ns": 90.5,
    "flags_ns": 100.0,
    "copy": [{"bytes": 4096, "gbps_one": 10.0, "gbps_all": 20.0}],
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize("line", ["", "hello", "@U", " @U {}", "[vm:1] @U {}"])
def test_noise_is_ignored(line: str) -> None:
    assert parse_line(line) is None


@pytest.mark.parametrize("line", ["@U ", "@U {", '@U {"a":1}x', "@U [1]", "@U 3", '@U {"a":'])
def test_half_an_answer_is_a_protocol_error(line: str) -> None:
    with pytest.raises(LaunchError) as caught:
        parse_line(line)
    assert caught.value.status == "protocol"
    assert line[:20] in caught.value.reason


@given(st.text())
def test_any_line_is_noise_an_answer_or_a_protocol_error(text: str) -> None:
    for line in (text, "@U " + text):
        try:
            answer = parse_line(line)
        except LaunchError as error:
            assert error.status == "protocol"
        else:
            assert answer is None or isinstance(answer, dict)


def test_hello() -> None:
    hello = parse_hello(HELLO)
    assert (hello.ranks, hello.sync, hello.where[0].cpus) == (1, "clock", [0, 1])
    assert hello.document["where"][0]["pid"] == 7
    assert parse_hello(hello.document) == hello


@pytest.mark.parametrize(
    ("change", "because"),
    [
        ({"protocol": 2}, "rebuild"),
        ({"ranks": 2}, "places"),
        ({"ranks": "1"}, "ranks"),
        ({"sync": "hope"}, "sync"),
        ({"where": [{"rank": 0}]}, "where.0"),
    ],
)
def test_wrong_hello(change: dict[str, Any], because: str) -> None:
    with pytest.raises(LaunchError, match=because) as caught:
        parse_hello({**HELLO, **change})
    assert caught.value.status == "protocol"


def test_sample() -> None:
    timing = parse_sample(SAMPLE)
    assert timing.raw.tolist() == [300, 100, 200]
    assert timing.raw.dtype == np.int64
    assert timing.refused is None
    assert (timing.repetitions, timing.discarded, timing.correct) == (3, 1, True)
    assert timing.minimum == pytest.approx(100e-9)
    assert timing.median == pytest.approx(200e-9)
    assert timing.entry_spread == pytest.approx(20e-9)


def test_refused_sample() -> None:
    timing = parse_sample({"sample": 3, "refused": "memory: needs 2 of 1"})
    assert (timing.id, timing.refused, timing.repetitions) == (3, "memory: needs 2 of 1", 0)


def test_wrong_result_keeps_its_times() -> None:
    timing = parse_sample({**SAMPLE, "correct": False, "reason": "wrong result on rank 1"})
    assert timing.correct is False
    assert timing.reason == "wrong result on rank 1"
    assert timing.repetitions == 3


@pytest.mark.parametrize(
    "change",
    [
        {"reps": 4},
        {"reps": 0, "times_ns": []},
        {"times_ns": [1, 2, "3"]},
        {"times_ns": [1.5, 2, 3]},
        {"times_ns": [1, 2, 1 << 70]},
        {"correct": 1},
        {"sync": None},
        {"bytes": "8"},
    ],
)
def test_wrong_sample(change: dict[str, Any]) -> None:
    with pytest.raises(LaunchError) as caught:
        parse_sample({**SAMPLE, **change})
    assert caught.value.status == "protocol"


@given(st.dictionaries(st.sampled_from(sorted({*HELLO, *SAMPLE, *LIMITS, "refused", "link"})), json_values))
def test_any_object_is_typed_or_a_protocol_error(answer: dict[str, Any]) -> None:
    for parse, good in ((parse_hello, HELLO), (parse_sample, SAMPLE), (parse_limits, LIMITS)):
        for document in (answer, {**good, **answer}):
            try:
                parse(document)
            except LaunchError as error:
                assert error.status == "protocol"


def test_limits() -> None:
    limits = parse_limits(LIMITS)
    assert limits.pairs == [(0, 1, 90.5)]
    assert limits.copy_rates[0].gbps_all == 20.0
    assert json.loads(json.dumps(limits.document)) == LIMITS
    assert parse_limits(limits.document) == limits


def test_limits_unavailable() -> None:
    limits = parse_limits({"limits": 1, "unavailable": "more ranks than CPUs"})
    assert limits.unavailable == "more ranks than CPUs"
    assert limits.latency_ns is None
    assert parse_limits(limits.document) == limits
    assert isinstance(limits, Limits)


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=200))
def test_statistics_agree_with_numpy(times: list[int]) -> None:
    timing = Timing(0, raw=np.array(times, dtype=np.int64))
    seconds = np.array(times) * 1e-9
    assert timing.minimum == pytest.approx(seconds.min())
    found = (timing.q1, timing.median, timing.q3, timing.p95)
    assert found == pytest.approx(quantiles(seconds, (0.25, 0.5, 0.75, 0.95)), rel=1e-6)
    if len(set(times)) == len(times):
        assert found == pytest.approx(tuple(np.quantile(seconds, [0.25, 0.5, 0.75, 0.95])))
    assert timing.mean == pytest.approx(seconds.mean())
    kept = np.sort(seconds)[len(times) // 10 : len(times) - len(times) // 10]
    assert timing.trimmed == pytest.approx(kept.mean())
