"""Study files: what they can say, and how they are refused."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.core.errors import UserError
from unisono.core.vocabulary import COLLECTIVES, MICROBENCHMARKS, NEIGHBOURHOODS, NONBLOCKING, PERSISTENT
from unisono.study.config import Study, parse_duration, parse_study, read_study, ready_made, ready_made_names

SMALL = """
[study]
name = "small"
[cases]
collectives = ["allreduce", "bcast"]
"""


def test_defaults_are_one_node_and_all_cores() -> None:
    study = parse_study(SMALL, "small.toml")
    assert study.cases.nodes == [1]
    assert study.cases.ppn == ["cores"]
    assert study.method.name == "race"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("   \n", "is empty"),
        ("[study", "is not valid TOML"),
        ('[study]\nname = "x"', "has no [cases]"),
        ('[study]\nname = "x"\n[cases]\ncollectives = []', "cases.collectives"),
        ('[study]\nname = "x"\n[cases]\ncollectives = ["alltoal"]', "unknown collective 'alltoal'"),
        (SMALL + "[sizes]\nfrom = '8 parsecs'", "sizes.from: '8 parsecs' is not a size"),
        (SMALL + "[sizes]\nfrom = '1M'\nto = '8'", "is above to"),
        (SMALL + "[sizes]\nstep = 1", "sizes.step"),
        (SMALL + "[method]\nbudget = '10 fortnights'", "is not a duration"),
        (SMALL + "[method]\nname = 'guess'", "method.name"),
        (SMALL + "[method]\nconfidence = 95", "method.confidence"),
        (SMALL + "[parameters]\nUCX_RNDV_THRESH = []", "UCX_RNDV_THRESH: has no values"),
        (SMALL + "[parameters]\nUCX_RNDV_THRESH = [{}]", "is not a value"),
        (SMALL + "[weights]\nalltoall = 1", "is not among the collectives"),
        (SMALL + "[weights]\nallreduce = 0", "nothing would count"),
        (SMALL + "ppn = ['x']", "cases.ppn: 'x' is not a number of ranks"),
        (SMALL + "ppn = [0]", "cases.ppn: 0 is not a number of ranks"),
        (SMALL + "[[sizes.limit]]\ncollective = 'bcats'\nto = '8'", "unknown collective 'bcats'"),
        (SMALL + "[surprise]\nx = 1", "surprise"),
    ],
)
def test_bad_study_is_refused_in_one_line_that_names_file_and_key(text: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        parse_study(text, "my.toml")
    message = str(error.value)
    assert message.startswith("my.toml: ")
    assert says in message
    assert "\n" not in message


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_study(tmp_path / "absent.toml")


@given(st.text(max_size=200))
def test_any_text_is_a_study_or_refused(text: str) -> None:
    try:
        parse_study(text, "x.toml")
    except UserError as error:
        assert str(error).startswith("x.toml: ")


@given(st.text(max_size=20))
def test_any_duration_is_positive_seconds_or_refused(text: str) -> None:
    with contextlib.suppress(UserError):
        assert 0 < parse_duration(text) < float("inf")


def test_durations() -> None:
    assert parse_duration("90") == parse_duration("90s") == parse_duration("1.5m") == 90
    assert parse_duration("2h") == 7200


def test_message_sizes_of_the_documents() -> None:
    """A3: -msglog 0:xx by collective and processes per node."""
    path = ready_made("oci-bm-standard-e5-192")
    assert path is not None
    sizes = read_study(path)[0].sizes
    expected = {24: 26, 48: 25, 96: 24, 192: 23}
    for ppn, log in expected.items():
        assert sizes.of("alltoall", ppn)[-1] == 2**log
        assert sizes.of("allgather", ppn)[-1] == 2**log
        assert sizes.of("allreduce", ppn)[-1] == 2**30
        assert sizes.of("alltoall", ppn) == [2**k for k in range(log + 1)]
    path = ready_made("oci-bm-optimized3-36")
    assert path is not None
    sizes = read_study(path)[0].sizes
    assert {sizes.of(name, 36)[-1] for name in ("alltoall", "allgather")} == {2**25}
    assert sizes.of("allreduce", 36)[-1] == 2**30


@pytest.mark.parametrize("name", ready_made_names())
def test_every_ready_made_study_is_valid(name: str) -> None:
    path = ready_made(name)
    assert path is not None
    assert read_study(path)[0].study.name == name


@given(
    st.sampled_from(sorted(COLLECTIVES)),
    st.integers(0, 4096),
    st.integers(4096, 1 << 30),
    st.floats(1.1, 16),
    st.lists(st.integers(0, 1 << 31), max_size=5),
)
def test_sizes_ascend_and_stay_in_range(collective: str, first: int, to: int, step: float, extra: list[int]) -> None:
    document = {
        "study": {"name": "x"},
        "cases": {"collectives": [collective]},
        "sizes": {"from": first, "to": to, "step": step, "extra": extra},
    }
    sizes = Study.model_validate(document).sizes.of(collective, 2)
    assert sizes == sorted(set(sizes))
    assert sizes
    assert sizes[-1] <= to


def test_effective_study_survives_the_database() -> None:
    """A study is stored as JSON and read back when it is resumed."""
    for name in ready_made_names():
        path = ready_made(name)
        assert path is not None
        study = read_study(path)[0]
        assert Study.model_validate_json(study.model_dump_json(by_alias=True)) == study


def test_a_kind_stands_for_all_of_its_collectives() -> None:
    def asked(*names: str) -> list[str]:
        text = f'[study]\nname = "x"\n[cases]\ncollectives = {json.dumps(names)}\n'
        return parse_study(text, "study.toml").cases.collectives

    assert asked("neighborhood") == list(NEIGHBOURHOODS)
    assert asked("iscan", "nonblocking")[0] == "iscan" and sorted(asked("iscan", "nonblocking")) == sorted(NONBLOCKING)
    assert asked("persistent", "bcast_init") == list(PERSISTENT)
    blocking = asked("blocking")
    assert "allreduce" in blocking and "barrier" in blocking
    assert not {"iallreduce", "allreduce_init", "pingpong"} & set(blocking)
    assert sorted(asked("all")) == sorted({*blocking, *NEIGHBOURHOODS, *NONBLOCKING, *PERSISTENT})
    assert set(COLLECTIVES) - set(asked("all")) == set(MICROBENCHMARKS)
    with pytest.raises(UserError, match="unknown collective 'blockin'; did you mean blocking"):
        asked("blockin")
