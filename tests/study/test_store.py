"""The study file: nothing measured is lost, nobody writes twice, foreign files are refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.study.machines import machine
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, USUAL, Condition, Setting
from unisono.study.store import Statistics, Store

META = {"margin": 0.03, "confidence": 0.95, "weights": {}, "scope": ["coll"]}
STATISTICS = Statistics(5, 1, "clock", 1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 3.1e-6, 3e-6, True)
RAW = np.array([1000, 2000, 3000, 4000, 5000], dtype="<i8").tobytes()


def create(path: Path) -> Store:
    return Store.create(path, name="test", config="{}", method="race", machine=machine(), meta=META)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    setting = Setting({"pml": "ucx", "coll": "basic"})
    with create(tmp_path / "study.db") as store:
        launch = store.begin_launch(Setting({"pml": "ucx"}), 1, 2, 1, "mpirun ...", False)
        store.add_sample(launch, "allreduce", 1024, setting, STATISTICS, RAW)
        store.add_refusal(launch, "allreduce", 4096, setting, "memory: too much")
        store.add_limits(1, 2, launch, {"latency_ns": 100})
        store.add_note("A note.")
        store.end_launch(launch, "done", "", 1.5, "noise", {"ranks": 2})
    with Store.open(tmp_path / "study.db") as store:
        data = store.data()
        assert store.raw(launch, "allreduce", 1024, setting) == RAW
    (sample,) = data.samples
    assert (sample.case.collective, sample.case.ppn, sample.size, sample.setting) == ("allreduce", 2, 1024, setting)
    assert (sample.median, sample.correct, sample.round) == (3e-6, True, 1)
    assert (data.launches[0].status, data.launches[0].oversubscribed) == ("done", False)
    assert data.refusals[0].reason == "memory: too much"
    assert data.limits == {(1, 2): {"latency_ns": 100}}
    assert data.notes == ("A note.",)
    assert data.machine == machine()


def test_a_launch_whose_ranks_share_cpus_is_oversubscribed_whatever_was_planned(tmp_path: Path) -> None:
    with create(tmp_path / "study.db") as store:
        for crowded, planned in ((True, False), (False, True), (False, False)):
            launch = store.begin_launch(Setting(), 2, 1, 1, "mpirun ...", planned)
            store.end_launch(launch, "done", "", 1.5, "", {"oversubscribed": crowded})
        assert [launch.oversubscribed for launch in store.launches()] == [True, True, False]


@pytest.mark.parametrize(
    ("said", "shared"),
    [
        ({"oversubscribed": True, "where": [{"node": 0, "cpus": [0]}, {"node": 1, "cpus": [0]}]}, True),
        ({"oversubscribed": False, "where": [{"node": 0, "cpus": [0]}, {"node": 1, "cpus": [0]}]}, False),
        ({"oversubscribed": True, "where": [{"node": 0, "cpus": [0]}, {"node": 0, "cpus": [0]}]}, False),
        ({"elapsed": 1.5}, False),
        ({"oversubscribed": True, "where": [{"node": "n0", "cpus": [0]}]}, None),
        ({"where": 7}, None),
    ],
)
def test_whether_nodes_share_cpus_is_told_by_what_ranks_said(
    tmp_path: Path, said: dict[str, object], shared: bool | None
) -> None:
    """None: damaged."""
    with create(tmp_path / "study.db") as store:
        store.end_launch(store.begin_launch(Setting(), 2, 1, 1, "mpirun ...", False), "done", "", 1.5, "", said)
        if shared is None:
            with pytest.raises(UserError, match=r"study\.db: is damaged"):
                store.data()
        else:
            assert store.data().nodes_share_cpus == shared


def test_a_study_of_an_earlier_version_is_read_and_continued(tmp_path: Path) -> None:
    """Its samples tell neither of a condition nor of the time in the call."""
    path = tmp_path / "study.db"
    with create(path) as store:
        launch = store.begin_launch(DEFAULT, 1, 2, 1, "mpirun", False)
        store.add_sample(launch, "bcast", 8, DEFAULT, STATISTICS, RAW)
    db = sqlite3.connect(path)
    (made,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'sample'").fetchone()
    lines = [line for line in made.splitlines() if not line.strip().startswith(("condition ", "inside "))]
    before = "\n".join(lines).replace("size, setting, condition)", "size, setting)")
    assert before.count("condition") == before.count("inside") == 0
    db.executescript(f"ALTER TABLE sample RENAME TO later; {before};")
    kept = ", ".join(name for _, name, *_ in db.execute("PRAGMA table_info(sample)"))
    db.executescript(f"INSERT INTO sample ({kept}) SELECT {kept} FROM later; DROP TABLE later;")
    db.close()
    with Store.open(path) as store:
        (old,) = store.samples()
    assert (old.median, old.condition, old.inside) == (3e-6, USUAL, None)
    late = Condition("caches", (0.0, 1e-3), 2e-3, 7, ((0, 1), (1, 0)))
    with Store.open(path, write=True) as store:
        launch = store.begin_launch(DEFAULT, 1, 2, 2, "mpirun", False)
        store.add_sample(launch, "bcast", 8, DEFAULT, replace(STATISTICS, condition=late.key, inside=4e-3), RAW)
        assert store.samples()[0] == old
        assert (store.samples()[1].condition, store.samples()[1].inside) == (late, 4e-3)


@pytest.mark.parametrize(
    "key", ["[]", '{"cold":"hot"}', '{"late":[-1]}', '{"drawn":1e300}', '{"other":1}', '{"partners":[[0]]}', "x"]
)
def test_a_condition_that_nobody_wrote(tmp_path: Path, key: str) -> None:
    with create(tmp_path / "study.db") as store:
        launch = store.begin_launch(DEFAULT, 1, 2, 1, "mpirun", False)
        store.add_sample(launch, "bcast", 8, DEFAULT, replace(STATISTICS, condition=key), RAW)
        with pytest.raises(UserError, match=r"damaged \(a condition"):
            store.samples()


def test_a_sample_cannot_be_stored_twice(tmp_path: Path) -> None:
    with create(tmp_path / "study.db") as store:
        launch = store.begin_launch(DEFAULT, 1, 2, 1, "mpirun", False)
        store.add_sample(launch, "bcast", 8, DEFAULT, STATISTICS, RAW)
        with pytest.raises(sqlite3.IntegrityError):
            store.add_sample(launch, "bcast", 8, DEFAULT, STATISTICS, RAW)


def test_an_existing_study_is_not_overwritten(tmp_path: Path) -> None:
    create(tmp_path / "study.db").close()
    with pytest.raises(UserError, match="exists; continue it with --resume"):
        create(tmp_path / "study.db")


def test_a_file_where_outputs_should_lie_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "study.db").write_text("")
    with pytest.raises(UserError, match=r"study\.db: is a file; -o DIR names a directory"):
        create(tmp_path / "study.db" / "study.db")


def test_a_second_writer_is_refused_and_told_who_writes(tmp_path: Path) -> None:
    with create(tmp_path / "study.db"):
        with pytest.raises(UserError, match=f"is being written by process {os.getpid()}"):
            Store.open(tmp_path / "study.db", write=True)
        Store.open(tmp_path / "study.db").close()  # reading meanwhile is fine
    Store.open(tmp_path / "study.db", write=True).close()


@pytest.mark.parametrize("content", [b"", b"not a database at all, but text", b"SQLite format 3\0" + b"\0" * 100])
def test_a_file_that_is_no_study_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "study.db"
    path.write_bytes(content)
    with pytest.raises(UserError, match="is not a Unisono study"):
        Store.open(path)
    with pytest.raises(UserError, match="is not a Unisono study"):
        Store.open(path, write=True)


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE meta (key TEXT, value TEXT)")
        db.execute("INSERT INTO meta VALUES ('format', 'bookmarks')")
    with pytest.raises(UserError, match="another program"):
        Store.open(path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    create(tmp_path / "study.db").close()
    with sqlite3.connect(tmp_path / "study.db") as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'format_version'")
    with pytest.raises(UserError, match="newer Unisono"):
        Store.open(tmp_path / "study.db")


def test_a_missing_file_and_a_missing_place(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such study"):
        Store.open(tmp_path / "absent.db")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"is not a Unisono study \(it is empty\)"):
        Store.open(tmp_path / "file")
    with pytest.raises(UserError, match="file"):
        create(tmp_path / "file" / "study.db")


def test_a_finished_study_is_one_file_that_opens_where_nothing_can_be_written(tmp_path: Path) -> None:
    create(tmp_path / "study.db").close()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(tmp_path / "study.db", elsewhere)
    elsewhere.chmod(0o555)
    try:
        Store.open(elsewhere / "study.db").data()
    finally:
        elsewhere.chmod(0o755)


_WRITER = """
    import sys, pathlib
    sys.path.insert(0, {root!r})
    from tests.study.test_store import create, STATISTICS, RAW
    from unisono.core.vocabulary import DEFAULT
    store = create(pathlib.Path({path!r}))
    for launch_number in range(1_000_000):
        launch = store.begin_launch(DEFAULT, 1, 2, launch_number, "mpirun", False)
        for size in range(20):
            store.add_sample(launch, "bcast", size, DEFAULT, STATISTICS, RAW)
            print(launch, size, flush=True)
        store.end_launch(launch, "done", "", 1.0)
"""


@pytest.mark.parametrize("after", [1, 7, 55])
def test_kill_9_loses_nothing_that_was_measured(tmp_path: Path, after: int) -> None:
    path = tmp_path / "study.db"
    root = str(Path(__file__).parents[2])
    code = textwrap.dedent(_WRITER).format(root=root, path=str(path))
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    reported = [tuple(map(int, writer.stdout.readline().split())) for _ in range(after)]
    writer.send_signal(signal.SIGKILL)
    rest = writer.stdout.read().splitlines(keepends=True)
    reported += [tuple(map(int, line.split())) for line in rest if line.endswith("\n")]  # the last may be cut off
    writer.wait()
    with Store.open(path, write=True) as store:  # the lock died with its holder
        stored = {(s.launch, s.size) for s in store.samples()}
        assert set(reported) <= stored
        store.mark_interrupted()
        assert "running" not in {launch.status for launch in store.launches()}


def test_kill_9_while_the_study_is_created_leaves_nothing_that_looks_like_one(tmp_path: Path) -> None:
    """A partial file never bears the study's name."""
    (tmp_path / "study.new").write_bytes(b"half a database")
    create(tmp_path / "study.db").close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["study.db"]


def _can_mount() -> bool:
    probe = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    return shutil.which("unshare") is not None and subprocess.run(probe, capture_output=True).returncode == 0


_FILLER = """
    import sys, pathlib, json
    sys.path.insert(0, {root!r})
    from tests.study.test_store import create, STATISTICS
    from unisono.core.errors import UserError
    from unisono.core.vocabulary import DEFAULT
    from unisono.study.store import Store
    import os
    path = pathlib.Path({path!r})
    store = create(path)
    stored = 0
    try:
        for number in range(100_000):
            launch = store.begin_launch(DEFAULT, 1, 2, number, "mpirun", False)
            store.add_sample(launch, "bcast", 8, DEFAULT, STATISTICS, os.urandom(8192))
            stored += 1
    except UserError as error:
        message = str(error)
    try:
        store.close()
    except UserError:
        pass
    with Store.open(path) as again:
        kept = len(again.samples())
    print(json.dumps([message, stored, kept]))
"""


@pytest.mark.skipif(not _can_mount(), reason="user namespaces are not permitted here: no small disk to fill")
def test_a_full_disk_is_one_clear_line_and_loses_nothing(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    code = textwrap.dedent(_FILLER).format(root=root, path=str(tmp_path / "study.db"))
    mount = f'mount -t tmpfs -o size=2m none {tmp_path} && exec {sys.executable} -c "$CODE"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount],
        env={**os.environ, "CODE": code},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    message, stored, kept = json.loads(done.stdout)
    assert "cannot be written" in message
    assert "--resume" in message
    assert kept >= stored > 10


_READER = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.study.test_store import DEFAULT, STATISTICS, RAW, create
from unisono.core.errors import UserError
try:
    with create(Path({path!r})) as store:
        store.hellos()
        for number in range(1000):
            launch = store.begin_launch(DEFAULT, 1, 2, number, "mpirun", False)
            with store.together():
                store.add_sample(launch, "bcast", 8, DEFAULT, STATISTICS, RAW)
                store.end_launch(launch, "done", "", 1.0, "", {{"said": "x" * 500}})
            store.hellos(), store.samples(), store.launches()
except UserError as error:
    print(error)
    left = {{file.name for file in Path({path!r}).parent.iterdir()}} - {{"study.db-wal", "study.db-shm"}}
    assert left <= {{"study.db"}}, left
    assert "--resume" not in str(error) or left, "there is nothing to continue"
"""


@pytest.mark.skipif(not _can_mount(), reason="user namespaces are not permitted here: no small disk to fill")
@pytest.mark.parametrize("room", ["24k", "48k", "56k", "64k", "72k", "128k"])
def test_a_disk_that_is_full_wherever_it_happens_is_one_clear_line(tmp_path: Path, room: str) -> None:
    """Making the study, its log, the log's index, a transaction, a question: each needs room."""
    code = _READER.format(root=str(Path(__file__).parents[2]), path=str(tmp_path / "study.db"))
    mount = f'mount -t tmpfs -o size={room} none {tmp_path} && exec {sys.executable} -c "$CODE"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount],
        env={**os.environ, "CODE": code},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert "cannot be written" in done.stdout or "No space left" in done.stdout


def test_a_damaged_study_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with create(path) as store:
        for number in range(200):
            store.begin_launch(DEFAULT, 1, 2, number, "mpirun" * 50, False)
    content = bytearray(path.read_bytes())
    content[3 * len(content) // 4 :] = os.urandom(len(content) - 3 * len(content) // 4)
    path.write_bytes(bytes(content))
    with pytest.raises(UserError, match="damaged"), Store.open(path) as store:
        store.data()
