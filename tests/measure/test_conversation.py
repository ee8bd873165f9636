"""Sessions with a benchmark that misbehaves: a script says what the real one never should."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.measure.test_protocol import HELLO, LIMITS, SAMPLE
from unisono.core.errors import LaunchError
from unisono.measure.session import Session

Speaker = Callable[..., Session]

_SCRIPT = """
import sys
hello, answers, last_words = {parts!r}
print("a library's banner")
print(hello, flush=True)
for line in sys.stdin:
    print(answers.pop(0) if answers else "", flush=True)
    if not answers:
        break
sys.stderr.write(last_words)
sys.exit(75 if last_words else 0)
"""


@pytest.fixture
def speak(tmp_path: Path) -> Speaker:
    """speak(answer to the first command, ...): a session with a script that says just that."""

    def start(*answers: str, hello: str | None = None, last_words: str = "") -> Session:
        script = tmp_path / "bench.py"
        parts = (_said(HELLO) if hello is None else hello, list(answers), last_words)
        script.write_text(_SCRIPT.format(parts=parts))
        return Session([sys.executable, str(script)], {}, startup=10)

    return start


def _said(*answers: object) -> str:
    return "\n".join("@U " + json.dumps(answer) for answer in answers)


def test_noise_between_answers_is_ignored(speak: Speaker) -> None:
    said = "[n0] a warning\n" + _said(SAMPLE) + "\n\n# more\n" + _said({"done": "measure"})
    with speak(said) as session:
        (timing,) = session.measure("bcast", 8, [2], seconds=0.01)
    assert timing.raw.tolist() == SAMPLE["times_ns"]


@pytest.mark.parametrize(
    ("said", "because"),
    [
        ("@U {broken", "not JSON"),
        (_said({**SAMPLE, "reps": 9}, {"done": "measure"}), "9 repetitions announced"),
        (_said({**SAMPLE, "sample": 1}, {"done": "measure"}), r"asked for settings \[2\], got \[1\]"),
        (_said({"done": "measure"}), r"got \[\]"),
        (_said(SAMPLE, {"done": "limits"}), "measure was answered with"),
        (_said({"error": "define", "reason": "x"}), "measure was answered with"),
    ],
)
def test_wrong_answers_to_measure(speak: Speaker, said: str, because: str) -> None:
    with speak(said) as session, pytest.raises(LaunchError, match=because) as caught:
        session.measure("bcast", 8, [2], seconds=0.01)
    assert caught.value.status == "protocol"


def test_limits_need_one_answer(speak: Speaker) -> None:
    with speak(_said(LIMITS, LIMITS, {"done": "limits"})) as session, pytest.raises(LaunchError, match="2 answers"):
        session.limits()


@pytest.mark.parametrize("hello", ["@U {", _said({**HELLO, "protocol": 9}), _said({"hello": 1})])
def test_wrong_hello(speak: Speaker, hello: str) -> None:
    with pytest.raises(LaunchError) as caught:
        speak(hello=hello)
    assert caught.value.status == "protocol"


def test_errors_are_value_errors(speak: Speaker) -> None:
    with (
        speak(_said({"error": "define", "reason": "no variable x"})) as session,
        pytest.raises(ValueError, match="no variable x"),
    ):
        session.define(None, {"x": "1"})


def test_a_rank_that_ended_itself_was_hung(speak: Speaker) -> None:
    words = "unisono-bench: rank 1: hung: the deadline of 2 s passed while measuring bcast\n-----\nmpirun: exit 75\n"
    with speak("", last_words=words) as session, pytest.raises(LaunchError) as caught:
        session.measure("bcast", 8, [0], seconds=0.01)
    assert (caught.value.status, caught.value.reason) == ("hung", "the deadline of 2 s passed while measuring bcast")
    assert caught.value.stderr == words


def test_an_end_in_the_middle_is_a_crash(speak: Speaker) -> None:
    with speak(_said(SAMPLE)) as session, pytest.raises(LaunchError) as caught:
        session.measure("bcast", 8, [2], seconds=0.01)
    assert caught.value.status == "crashed"


def test_silence_is_a_hang(tmp_path: Path) -> None:
    with pytest.raises(LaunchError) as caught:
        Session([sys.executable, "-c", "import time; time.sleep(60)"], {}, startup=0.5)
    assert caught.value.status == "hung"


def test_settings_are_numbered_once_each(speak: Speaker) -> None:
    done = _said({"done": "define"})
    with speak(done, done) as session:
        assert session.define() == 0
        assert session.define("tuned", {"b": "2", "a": "1"}) == 1
        assert session.define("tuned", {"a": "1", "b": "2"}) == 1
        assert session.define("basic") == 2
        with pytest.raises(ValueError, match="spaces"):
            session.define("two words")


def test_a_launcher_that_stumbles_before_it_began_is_asked_again(tmp_path: Path) -> None:
    script = tmp_path / "mpirun.sh"
    hello = tmp_path / "hello"
    hello.write_text(_said(HELLO) + "\n")
    script.write_text(
        f'test -e "{tmp_path}/once" && cat "{hello}" && read quit && exit 0\n'
        f'touch "{tmp_path}/once"\n'
        'echo "The PMIx server\'s listener thread failed to start." >&2\n'
        "exit 213\n"
    )
    with Session(["sh", str(script)], {}, startup=10) as session:
        assert session.hello.ranks == HELLO["ranks"]
