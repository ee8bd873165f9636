"""The published results say what Oracle's guides say: every row of their tables comes out of the data."""

# ruff: noqa: E501 (the tables are easier to compare with one row a line)

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unisono.core.sizes import parse_size
from unisono.core.vocabulary import Setting
from unisono.knowledge import Published, Range, find, published
from unisono.machine.description import Machine

STUDIES = Path(__file__).parents[2] / "studies" / "machines"

E5 = """
| 24 | Alltoall | 16kb | no difference | - | better at <=128 B, worse at medium sizes | clearly worse at >=8 KB |
| 24 | Allgather | 16kb | only HCOLL, medium sizes | - | clearly better at large sizes | better at small sizes |
| 24 | Allreduce | 16kb | no difference | - | clearly better at large sizes | clearly better at small sizes |
| 48 | Alltoall | 8kb | no difference | no difference | better at small sizes only | clearly worse at >=1 KB |
| 48 | Allgather | 16kb | no difference | block better | no difference | better at <=4 KB, worse above |
| 48 | Allreduce | 16kb | no difference | block better | much better at >=8 KB | much better at <=512 KB |
| 96 | Alltoall | 8kb | no difference | block better | worse at medium sizes | worse nearly everywhere, clearly at >=1 KB |
| 96 | Allgather | 16kb | no difference | block better | worse at <=128 B | better 16 B-4 KB, worse at >=16 KB |
| 96 | Allreduce | 8kb | no difference | block better | worse at <=256 B, better at >=4 KB | better at <=128 KB, clearly from 512 B |
| 192 | Alltoall | 4kb | no difference | block slightly better | no difference | much worse at >=4 KB |
| 192 | Allgather | 16kb | no difference | block better | no difference | better 16 B-256 B |
| 192 | Allreduce | 8kb | no difference | block better | better at >=4 KB, clearly up to 128 KB | much better at <=128 KB |
"""

THRESHOLDS = """
| 8 | 32kb | 64kb | 128kb | Alltoall 8 KB-128 KB, Allreduce 32 KB-16 MB |
| 16 | 32kb | 32kb | 128kb | Alltoall 8 KB-128 KB, Allreduce 64 KB-16 MB |
| 32 | 16kb | 16kb | 128kb | Alltoall 8 KB-512 KB, Allreduce 128 KB-16 MB |
| 36 | 16kb | 16kb | 128kb | Alltoall 8 KB-256 KB, Allreduce 64 KB-16 MB |
"""

# Allgather on 36: "1KBまでのメッセージサイズで使用した場合が使用しない場合に対して優位", i.e. better with HCOLL.
HCOLL = """
| 8 | Alltoall | mostly better up to 128 B | no difference |
| 8 | Allgather | better 32-512 B, worse 8-32 KB | no difference |
| 8 | Allreduce | better 32 B-4 KB and 32 MB-1 GB | no difference |
| 16 | Alltoall | better up to 512 B | NPS1 better 16-32 MB |
| 16 | Allgather | without it, a singular point at 8 KB | no difference |
| 16 | Allreduce | better up to 4 KB and 32 MB-1 GB | no difference |
| 32 | Alltoall | mostly better up to 1 KB | NPS1 better 2-32 MB |
| 32 | Allgather | worse 2-8 KB | block better at 32 MB |
| 32 | Allreduce | better 32 B-4 KB and 32 MB-1 GB | no difference |
| 36 | Alltoall | mostly better up to 1 KB, worse 256 KB-2 MB | no difference |
| 36 | Allgather | better up to 1 KB | block better at 32 MB |
| 36 | Allreduce | better up to 4 KB and 8 MB-1 GB | NPS1 better 1-8 MB |
"""


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]


def of(source: str) -> list[Published]:
    return [result for result in published() if result.source.id == source]


def threshold(result: Published) -> str:
    return result.best["UCX_RNDV_THRESH"]


def test_every_row_of_the_epyc_machine() -> None:
    assert rows(E5) == [
        [
            str(result.ppn),
            result.collective.capitalize(),
            threshold(result),
            str(result.nps),
            str(result.placement),
            str(result.ucc),
            str(result.hcoll),
        ]
        for result in of("oci-e5")
    ]


def written(size: int) -> str:
    return next(
        f"{size >> power} {unit}" for power, unit in ((30, "GB"), (20, "MB"), (10, "KB"), (0, "B")) if size >> power
    )


def test_every_row_of_the_thresholds_of_the_xeon_machine() -> None:
    made = []
    for ppn in (8, 16, 32, 36):
        results = [result for result in of("oci-optimized3") if result.ppn == ppn]
        gains = [
            f"{r.collective.capitalize()} {written(r.gains.first)}-{written(r.gains.last)}"
            for r in results
            if r.gains is not None and r.gains.first is not None and r.gains.last is not None
        ]
        made.append([str(ppn), *(threshold(result) for result in results), ", ".join(gains)])
    assert made == rows(THRESHOLDS)


def test_every_row_of_hcoll_and_placement_of_the_xeon_machine() -> None:
    assert rows(HCOLL) == [
        [str(r.ppn), r.collective.capitalize(), str(r.hcoll), str(r.placement)] for r in of("oci-optimized3")
    ]


def test_from_48_processes_up_nps4_and_block_are_fixed() -> None:
    for result in of("oci-e5"):
        assert result.fixed == ({} if result.ppn < 48 else {"NPS": "4", "placement": "block"})


WORDS = {"coll_ucc_enable": "ucc", "coll_hcoll_enable": "hcoll"}


@pytest.mark.parametrize("result", [r for r in published() if r.effects], ids=lambda r: f"{r.collective}-{r.ppn}")
def test_what_is_there_for_programs_is_what_the_words_say(result: Published) -> None:
    """Every bound and every direction of an effect is in the words about it, and the other way round."""
    for parameter in {effect.parameter for effect in result.effects}:
        effects = [effect for effect in result.effects if effect.parameter == parameter]
        field = WORDS.get(parameter, "placement")
        said = getattr(result, field) if parameter != "NPS" else result.nps or result.placement
        assert said is not None
        for effect in effects:
            word = {"none": "no difference"}.get(effect.effect, effect.effect)
            assert word in said
            if effect.sizes:
                assert effect.sizes.split()[-1] in said.replace("everywhere", "all")
        bounds = {b for effect in effects for b in (effect.first, effect.last) if b is not None}
        if "worse above" in said:  # than the 4 KB before it: the next size IMB measures
            bounds.remove(parse_size("8 KB"))
        assert {written(bound).split()[0] for bound in bounds} == set(re.findall(r"(?<!NPS)\b\d+", said))


def test_the_applications_tuning_and_its_proof() -> None:
    (result,) = of("oci-profile")
    assert result.setting == Setting(
        {
            "UCX_TLS": "self,sm,ud",
            "UCX_RNDV_THRESH": "intra:16kb,inter:128kb",
            "UCX_ZCOPY_THRESH": "128kb",
            "placement": "cyclic",
            "coll_hcoll_enable": "0",
        }
    )
    assert (result.nodes, result.ppn, result.size, result.fixed) == (8, 32, 512 * 1024, {"NPS": "1"})
    assert [(proof.as_is, proof.tuned) for proof in result.proof] == [(3631, 3378), (587, 34), (32.6, 29.1)]
    assert f"{result.proof[-1].improvement:.1%}" == "12.0%"


def test_results_are_found_for_the_machine_they_are_of() -> None:
    xeon = Machine.model_validate_json((STUDIES / "BM.Optimized3.36-nps1.json").read_text())
    epyc = Machine.model_validate_json((STUDIES / "BM.Standard.E5.192-nps4.json").read_text())
    assert [r.best["UCX_RNDV_THRESH"] for r in find(xeon, "alltoall", 1, 36)] == ["16kb"]
    assert [r.source.id for r in find(xeon, "alltoall", 8, 32)] == ["oci-profile"]
    assert [r.source.id for r in find(epyc, "allreduce", 1, 192)] == ["oci-e5"]
    assert find(epyc, "allreduce", 1, 36) == []
    assert find(epyc, "bcast", 1, 192) == []
    half = epyc.model_copy(update={"cpus": epyc.cpus[:96]})
    assert find(half, "allreduce", 1, 96) == []


def test_sentences_for_people() -> None:
    xeon = Machine.model_validate_json((STUDIES / "BM.Optimized3.36-nps1.json").read_text())
    (result,) = find(xeon, "alltoall", 1, 36)
    assert result.sentences()[:3] == [
        "alltoall on 1 x 36 ranks of BM.Optimized3.36: UCX_RNDV_THRESH=16kb",
        "faster than the default 8 KiB to 256 KiB",
        "placement: no difference",
    ]
    (proven,) = find(xeon, "alltoall", 8, 32)
    assert "whole run: 32.6 s untuned, 29.1 s tuned (12.0%)" in proven.sentences()


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ({}, "all sizes"),
        ({"to": "1 KB"}, "up to 1 KiB"),
        ({"from": "1 KB"}, "from 1 KiB"),
        ({"from": "8 KB", "to": "8 KB"}, "at 8 KiB"),
    ],
)
def test_ranges_for_people(ends: dict[str, str], text: str) -> None:
    assert Range.model_validate(ends).text() == text
