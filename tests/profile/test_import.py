"""Any file, by its content."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.profile import raw_samples as raw
from tests.profile.ft import ft
from unisono.core.errors import UserError
from unisono.profile.file import save
from unisono.profile.importers import import_profile, sniff, title_of

SAMPLES = Path(__file__).parent / "samples"
SOURCES = {
    "ft_as_is.score": "scorep.score",
    "ft_p4.cubex": "cubex",
    "halo.3.5.mpiP": "mpip",
    "fft.ipm2": "ipm",
    "ring.ipm.xml": "ipm",
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_format_is_told_by_the_content_and_not_by_the_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_bytes((SAMPLES / name).read_bytes())
    assert import_profile(tmp_path / "file.txt").origin.source == SOURCES[name]


def test_a_profile_of_our_own(tmp_path: Path) -> None:
    save(ft(4, 2), tmp_path / "p")
    assert import_profile(tmp_path / "p").origin.command == ft().origin.command


def test_what_an_interrupted_run_left_is_one_profile(tmp_path: Path) -> None:
    for rank in range(3):
        part = raw.part(rank, 3, cells=[raw.cell(calls=rank + 1)], ended="signal SIGTERM")
        (tmp_path / f"run.rank{rank}.raw").write_bytes(raw.raw_file(part))
    (tmp_path / "other.rank0.raw").write_bytes(raw.raw_file(raw.part(0, 1)))
    for rank in range(3):
        profile = import_profile(tmp_path / f"run.rank{rank}.raw")
        assert (profile.ranks, profile.mpi_rows["calls"].tolist()) == (3, [1, 2, 3])
    (tmp_path / "other.rank0.raw").unlink()
    assert import_profile(tmp_path).ranks == 3
    assert import_profile(tmp_path).origin.ended == "signal SIGTERM"


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 3000, b"hello\n", b"PK\3\4", b"UNISONO\1", b"\x1f\x8b\x08\0", b"<xml/>"]
)
def test_anything_else_is_refused_with_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(UserError) as caught:
        import_profile(tmp_path / "file")
    assert str(tmp_path / "file") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such file; unisono profile writes a profile"):
        import_profile(tmp_path / "none")
    with pytest.raises(UserError, match="is a directory without"):
        import_profile(tmp_path)
    (tmp_path / "app.profile").write_bytes(b"PK\x03\x04")
    with pytest.raises(UserError, match=r"is a directory; name the file in it: .*app\.profile"):
        import_profile(tmp_path)


def test_one_line_of_the_list_makes_an_importer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recognised, found in its directory, said where nothing fits, and the profile called after the directory."""
    made = ModuleType("made")
    made.__dict__.update(
        NAME="made",
        LABEL="Made up",
        GIVEN_AS="a made-up report",
        IN_DIRECTORY=("made.out",),
        recognises=lambda path, head: head == b"made",
        read=lambda path: import_profile(SAMPLES / "halo.3.5.mpiP"),
    )
    monkeypatch.setattr(sniff, "IMPORTERS", (*sniff.IMPORTERS, made))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "made.out").write_bytes(b"made")
    assert import_profile(tmp_path / "run").ranks
    assert title_of(tmp_path / "run" / "made.out") == "run"
    (tmp_path / "other").write_bytes(b"other")
    with pytest.raises(UserError, match="a made-up report, or a profile of Unisono"):
        import_profile(tmp_path / "other")
