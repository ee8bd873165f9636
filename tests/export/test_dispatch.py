"""The rules file of our own library: what is written is read again, and what is wrong is said with its line."""

from __future__ import annotations

import random

import pytest

from unisono.core.errors import UserError
from unisono.core.vocabulary import DISPATCHED, REPRODUCIBLE, Setting
from unisono.export.dispatch import COSTS, MEASURED_COSTS, Rule, Rules, read, write
from unisono.parameters.spelling import implementation, of_implementation

EXAMPLE = """\
unisono-rules 1
# made from nothing
cost node_latency 1.2e-07 node_byte 1.1e-10 fabric_latency 2e-06 fabric_byte 1e-10
alltoall 1 2 0 4095 unisono/pull,mpi   # a list: the first that applies
alltoall 1 2 4096 max tuned/pairwise:65536
bcast 384@8x8x6 16 0 max unisono/tori
bcast * * 0 max han
"""


def test_what_the_example_says() -> None:
    found = read(EXAMPLE, "example")
    assert list(found.costs.items())[:2] == [("node_latency", 1.2e-07), ("node_byte", 1.1e-10)]
    assert [rule.nodes for rule in found.rules] == ["1", "1", "384@8x8x6", "*"]
    assert found.find("alltoall", 1, 2, 4095) == ("unisono/pull", "mpi")
    assert found.find("alltoall", 1, 2, 1 << 40) == ("tuned/pairwise:65536",)
    assert found.find("alltoall", 1, 4, 8) == ("mpi",)
    assert found.find("bcast", 3, 5, 8) == ("han",)
    assert of_implementation(found.find("alltoall", 1, 2, 8)[0]) == Setting({"coll": "unisono", "algorithm": "pull"})


def test_rules_for_just_these_ranks_go_first() -> None:
    text = "unisono-rules 1\nbcast * * 0 max han\nbcast 2 * 0 max sm\nbcast 2 4 0 99 unisono/pull\n"
    found = read(text, "x")
    assert found.find("bcast", 2, 4, 99) == ("unisono/pull",)
    assert found.find("bcast", 2, 4, 100) == ("sm",)
    assert found.find("bcast", 2, 8, 0) == ("sm",)
    assert found.find("bcast", 1, 8, 0) == ("han",)


@pytest.mark.parametrize("seed", range(200))
def test_what_is_written_is_read_again(seed: int) -> None:
    made = _any_rules(random.Random(seed))
    text = write(made, ["a comment", "with # signs"])
    assert read(text, "x") == made
    assert write(read(text, "x"), ["a comment", "with # signs"]) == text


def _any_rules(rng: random.Random) -> Rules:
    rules = []
    for collective in rng.sample(DISPATCHED, rng.randint(0, len(DISPATCHED))):
        for nodes, ppn in {(rng.choice(["*", "1", "12", "12@3x4"]), rng.choice(["*", "1", "96"])) for _ in range(3)}:
            ends = sorted(rng.sample(range(1, 1 << 40), rng.randint(1, 6)))
            first = 0
            for end in ends:
                if rng.random() < 0.8:
                    rules.append(Rule(collective, nodes, ppn, first, end - 1, _any_use(rng)))
                first = end
            if rng.random() < 0.5:
                rules.append(Rule(collective, nodes, ppn, first, None, _any_use(rng)))
    told = (*COSTS, *MEASURED_COSTS) if rng.random() < 0.5 else COSTS
    costs = {name: rng.uniform(1e-12, 1e-3) for name in told} if rng.random() < 0.7 else {}
    return Rules(tuple(rules), costs, rng.choice([None, *REPRODUCIBLE]))


def _any_use(rng: random.Random) -> tuple[str, ...]:
    words = (
        "mpi",
        "han",
        "unisono/pull",
        "unisono/k_port_2",
        "unisono/ring|unisono/chain:4096",
        "tuned/ring",
        f"unisono/slices:{rng.randint(1, 1 << 30)}",
    )
    return tuple(rng.sample(words, rng.randint(1, 3)))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("pingpong 1 2 0 max mpi", "our library does not serve 'pingpong'"),
        ("bcast 1 2 0 max", "5 words"),
        ("bcast 0 2 0 max mpi", "write numbers of nodes"),
        ("bcast 12@3x5 2 0 max mpi", "3x5 is not a shape of 12 nodes"),
        ("bcast 1 2 08 max mpi", "'08' is not a number of bytes"),
        ("bcast 1 2 0 99999999999999999999 mpi", "not a number of bytes"),
        ("bcast 1 2 9 8 mpi", "from 9 is above to 8"),
        ("bcast 1 2 0 max unisono/", "no implementation"),
        ("bcast 1 2 0 max unisono/a,,mpi", "no implementation"),
        ("bcast 1 2 0 max ring:7", "no implementation"),
        ("cost node_latency", "each followed by seconds"),
        ("cost node_latency 1 node_byte -1 fabric_latency 1 fabric_byte 1", "above 0"),
        ("cost nodes 1", "each followed by seconds"),
        ("reproducible", "write one of runs, placement, ranks"),
        ("reproducible always", "write one of runs, placement, ranks"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(line: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        read(f"unisono-rules 1\n\n{line}\n", "mine.conf")
    assert str(error.value).startswith("mine.conf: line 3: ")
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["", "# nothing\n", "unisono-rules 2\n", "bcast 1 2 0 max mpi\n"])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="unisono-rules 1"):
        read(text, "x")


def test_a_size_has_one_rule() -> None:
    with pytest.raises(UserError, match=r"line 3: .* 64 bytes have a rule already"):
        read("unisono-rules 1\nbcast 1 2 0 64 mpi\nbcast 1 2 64 max mpi\n", "x")


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ({}, "mpi"),
        ({"coll": "han"}, "han"),
        ({"coll": "tuned", "algorithm": "ring", "segment": "0"}, "tuned/ring"),
        ({"coll": "unisono", "algorithm": "pull", "segment": "16384"}, "unisono/pull:16384"),
    ],
)
def test_settings_and_their_words(setting: dict[str, str], word: str) -> None:
    assert implementation(setting) == word
    assert of_implementation(word) == Setting({k: v for k, v in setting.items() if v != "0"})
