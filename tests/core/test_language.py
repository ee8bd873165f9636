"""The languages: the Japanese catalogue is complete and fits its texts, and people get what programs do not."""

from __future__ import annotations

import ast
import json
import os
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from tests.tuning.samples import plan, tuning
from tools import catalogue as tool
from unisono.advise.runs import Run
from unisono.advise.verify import _give_up_as_is
from unisono.core import language
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import translated
from unisono.core.lines import wrapped
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.decide import sentences
from unisono.measure.steady import Steady
from unisono.tuning import words
from unisono.tuning.document import write
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Rule

ROOT = Path(__file__).parents[2]
UNISONO = [str(Path(sys.executable).parent / "unisono")]


@pytest.fixture(scope="module")
def marked() -> Catalog:
    return tool.marked()


@pytest.fixture(scope="module")
def held() -> Catalog:
    with tool.path_of("ja").open("rb") as stream:
        return read_po(stream)


def _ids(message: Message) -> tuple[str, ...]:
    return (message.id,) if isinstance(message.id, str) else tuple(message.id)


def _strings(message: Message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def _fields(text: str) -> set[str]:
    try:
        return {field for _literal, field, _spec, _conversion in string.Formatter().parse(text) if field is not None}
    except ValueError:  # braces of another kind
        return set(re.findall(r"{[^}]*}", text))


def test_every_text_has_a_translation_and_nothing_else_has(marked: Catalog, held: Catalog) -> None:
    wanted = {_ids(message) for message in marked if message.id}
    there = {_ids(message) for message in held if message.id}
    assert len(wanted) > 800
    assert wanted - there == set(), "run python tools/catalogue.py and translate"
    assert there - wanted == set(), "run python tools/catalogue.py"
    assert [message.id for message in held if message.id and not all(_strings(message))] == []
    assert [message.id for message in held if message.id and message.fuzzy] == []


def test_translations_have_the_placeholders_of_their_texts(held: Catalog) -> None:
    wrong = [
        (text, string)
        for message in held
        if message.id
        for text in _ids(message)
        for string in _strings(message)
        if _fields(text) != _fields(string)
    ]
    assert wrong == []


def test_translations_are_japanese(held: Catalog) -> None:
    """A text without a Japanese character was forgotten, unless it is all names, values and numbers."""
    japanese = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]")
    left = [m.id for m in held if m.id and not all(map(japanese.search, _strings(m)))]
    assert sorted(left) == ["{collective} of {size}", "{name} on {cores}", "{name} on {devices}"]


def _errors(path: Path) -> Iterator[tuple[int, ast.expr]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            at = {"UserError": 0, "LaunchError": 1}.get(node.func.id)
            if at is not None and len(node.args) > at:
                yield node.lineno, node.args[at]


@pytest.mark.parametrize("package", sorted(p.name for p in tool.SOURCES.iterdir()))
def test_errors_are_marked(package: str) -> None:
    """No error is a bare string."""
    place = tool.SOURCES / package
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place] * (place.suffix == ".py")
    bare = [
        f"{path.relative_to(tool.SOURCES)}:{line}"
        for path in files
        for line, text in _errors(path)
        if (isinstance(text, ast.JoinedStr) or (isinstance(text, ast.Constant) and isinstance(text.value, str)))
        and re.search("[a-z]{2}", _literal(text))
    ]
    assert bare == []


_SHOWN = ("print", "Text", "add_column", "add_row", "Table", "RichTable")
"""Calls by which commands say something; all their arguments are shown."""


def _shown(path: Path) -> Iterator[tuple[int, ast.expr]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _SHOWN:
            titles = (keyword.value for keyword in node.keywords if keyword.arg in ("title", "caption"))
            yield from ((node.lineno, text) for text in (*node.args, *titles))


def test_what_commands_say_is_marked() -> None:
    """Nothing of two words or more is printed as it stands in the source."""
    bare = [
        f"{path.relative_to(tool.SOURCES)}:{line}"
        for path in sorted(tool.SOURCES.rglob("*.py"))
        for line, text in _shown(path)
        if isinstance(text, ast.JoinedStr | ast.Constant) and re.search("[a-z]{2,} [a-z]{2,}", _literal(text))
    ]
    assert bare == []


def _literal(text: ast.expr) -> str:
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))


def _unisono(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    wanted = {k: v for k, v in os.environ.items() if k not in ("UNISONO_LANG", "LC_ALL", "LC_MESSAGES", "LANG")}
    wanted |= {"PYTHONUTF8": "1", "COLUMNS": "100"} | environment
    done = subprocess.run([*UNISONO, *arguments], env=wanted, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    return done


def test_help_is_japanese() -> None:
    of_all = _unisono("--lang", "ja", "--help").stdout
    assert "使い方: unisono [OPTIONS] COMMAND [ARGS]..." in of_all
    assert "コマンド:" in of_all and "このヘルプを表示して終了します。" in of_all
    of_one = _unisono("tune", "--help", LANG="ja_JP.UTF-8").stdout
    assert "測定時間の上限です。" in of_one and "例: unisono tune quick" in of_one
    assert not re.search(r"^ {2}-.*[a-z] [a-z]+ [a-z]+ [a-z]+\.$", of_all + of_one, re.MULTILINE)


def test_errors_are_japanese_and_end_with_the_same_status(tmp_path: Path) -> None:
    missing = tmp_path / "no.toml"
    done = _unisono("show", str(missing), "--lang=ja")
    assert (done.returncode, done.stdout) == (2, "")
    said = "ファイルがありません。チューニングは unisono tune が unisono-out/tuning.toml に書きます"
    assert done.stderr == f"unisono: {missing}: {said}\n"
    done = _unisono("doctor", "--nonsense", UNISONO_LANG="ja")
    assert done.returncode == 2
    assert "エラー: そのようなオプションはありません: --nonsense" in done.stderr
    assert "使い方: unisono" in done.stderr or "doctor -h" in done.stderr


def test_what_the_parser_says_of_a_number_is_japanese() -> None:
    """Its library has said this in several ways."""
    done = _unisono("profile", "--as-is", "x", "--", "true", UNISONO_LANG="ja")
    assert done.returncode == 2
    assert "'--as-is' の値が正しくありません: " in done.stderr and not re.search("[a-z]+ [a-z]+ [a-z]+$", done.stderr)


def test_why_a_program_does_not_run_is_japanese(japanese: None) -> None:
    root = "mpirun does not run as root without --allow-run-as-root"
    with pytest.raises(UserError) as raised:
        _give_up_as_is([Run(0, False, "refused", root, None, 1.0)])
    assert "起動拒否" in str(raised.value) and not re.search("refused|does not run", str(raised.value))


def test_a_language_that_is_none_is_an_error() -> None:
    done = _unisono("doctor", "--lang", "fr")
    assert (done.returncode, done.stderr) == (2, "unisono: --lang fr: is not available; write en or ja\n")


@pytest.mark.parametrize(
    ("environment", "chosen"),
    [
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LC_MESSAGES": "ja_JP", "LANG": "C"}, "ja"),
        ({"UNISONO_LANG": "en", "LC_ALL": "ja_JP.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_environment(environment: dict[str, str], chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_shown_by_terminal", lambda: True)
    try:
        assert language.choose(["doctor"], environment) == ["doctor"]
        assert language.language() == chosen
    finally:
        language.use("en")


def test_options_of_a_users_program_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    line = ["run", "--tuning", "t.toml", "--", "mpirun", "./app", "--lang", "fr"]
    assert language.choose(line, {}) == line
    assert language.language() == "en"
    monkeypatch.setattr(language, "_shown_by_terminal", lambda: False)
    assert language.choose(["--lang", "ja", "doctor"], {}) == ["doctor"]
    assert language.language() == "en", "the terminal cannot show it"
    with pytest.raises(UserError, match="--lang : is not available"):
        language.choose(["doctor", "--lang"], {})


def test_doctor_is_japanese_and_its_json_is_not() -> None:
    done = _unisono("doctor", "--lang", "ja")
    if done.returncode == 2:
        pytest.skip(done.stderr.strip())
    assert "マシン" in done.stdout and "集合通信" in done.stdout and "パラメータ" in done.stdout
    assert "ランデブー" in done.stdout, "what the catalogue of parameters says"
    english = json.loads(_unisono("doctor", "--json").stdout)
    japanese = json.loads(_unisono("doctor", "--json", "--lang", "ja").stdout)
    assert japanese["parameters"] == english["parameters"]
    assert japanese["machine"].keys() == english["machine"].keys()


def test_findings_are_kept_in_english_and_shown_in_japanese(japanese: None) -> None:
    case = Case("allreduce", 1, 24)
    sizes = [8, 64, 4096, 65536]
    kept = sentences.differs(case, "hcoll", "the default", 64, 4096, 1.3, 2.1, sizes)
    assert kept == "allreduce, 1 x 24 ranks: hcoll is faster than the default from 64 B to 4 KiB, 1.3x to 2.1x as fast."
    assert translated(kept) == (
        "allreduce (1 x 24 ランク): hcoll は 64 B～4 KiB で デフォルト より高速です (1.3x～2.1x の速さ)。"
    )
    two = sentences.compared(case, "B", "A", [(8, 64, 1.5, 1.6), (4096, 65536, 0.5, 0.6)], sizes, True)
    assert two == (
        "allreduce, 1 x 24 ranks: B is faster than A up to 64 B, 1.5x to 1.6x as fast, and slower "
        "from 4 KiB up, taking 1.67x to 2x as long."
    )
    assert "、4 KiB 以上で低速 (所要時間が 1.67x～2x)。" in translated(two)
    untold = translated(sentences.untold({case: ["pml", "algorithm"], Case("reduce", 1, 24): ["pml"]}))
    assert untold.startswith("調べた効果のうち 3 件はノイズと区別できませんでした (") and untold.endswith(
        "してください。"
    )
    ours = translated(sentences.untold({case: ["pml", "unisono", "algorithm"]}))
    assert "(allreduce (1 x 24 ランク): pml, " in ours and "algorithms" not in ours
    dated = sentences.alike(case, "quick, 2026-11-24 19:02", "quick, 2026-11-25 08:10", 1.5)
    assert translated(dated).startswith("allreduce (1 x 24 ランク): quick, 2026-11-24 19:02 と quick, 2026-11-25 08:10")
    moods = Steady()
    moods.waited = 35.0
    none, moods.measurements = moods.sentence(), 90
    assert none is not None and translated(none).endswith("別の状態での測定は 1 回も残していません。")
    moods.unsteady = 4
    some = moods.sentence()
    assert some is not None and translated(some).endswith("90 回の測定のうち 4 回は別の状態のままです。")
    wrong = sentences.wrong(case, Setting({"coll": "sm"}), [8, 64, 4096, 65536])
    assert "誤った結果" in translated(wrong) and "ほか 1 サイズ" in translated(wrong)
    assert "デフォルトのまま" in translated(sentences.wrong(case, DEFAULT, [8]))
    bits = "allreduce on 1 x 2 ranks: reproducible (placement): the same bits in all of these launches: default"
    assert "次のすべての起動でビットが一致しました" in translated(bits)
    price = "allreduce on 1 x 2 ranks: reproducible (placement) costs nothing: -55 % (-56 to -53)"
    assert "コストはかかりません: -55 %" in translated(price)
    ended = "1 x 8 ranks: 2 of 2 launches with pml=ob1 crashed or were refused (it stopped); it is left out."
    assert "2 回のうち 2 回: 異常終了、または起動の拒否 (it stopped)。" in translated(ended)
    undetermined = (
        "4 of the effects that the study looked for are too small to be told from noise (alltoall, 1 x "
        "2 ranks: coll, algorithm): measure longer, or on a quieter machine."
    )
    assert "調べた効果のうち 4 件" in translated(undetermined)


def test_an_advice_is_said_whole_in_japanese(japanese: None) -> None:
    """Sentences of its parts, and notes that are kept in English."""
    note = "2 x 4 ranks were not measured; the settings of the nearest measured case, 1 x 4, are used"
    assert translated(note) == "2 x 4 ランクは測定していないため、1 x 4 の設定を使います"
    ended = (
        "pml=ob1 may be faster, but it was not tried: 30 s of the budget of 60 s are spent; continue "
        "with --resume --budget 3m"
    )
    assert translated(ended) == (
        "pml=ob1 は高速な可能性がありますが、試していません。"
        "時間の上限 60 s のうち 30 s を使いました。--resume --budget 3m で続けてください"
    )


def test_findings_of_a_tuning_are_shown_in_japanese(tmp_path: Path) -> None:
    text = sentences.alike(Case("bcast", 1, 2), "pml=ob1", "pml=ucx", 1.2)
    path = tmp_path / "tuning.toml"
    write(tuning(plan()).model_copy(update={"finding": (Finding(kind="no difference", text=text),)}), path)
    assert text in path.read_text(encoding="utf-8")
    shown = _unisono("show", str(path), "--lang", "ja").stdout
    assert "所見" in shown and "bcast (1 x 2 ランク): pml=ob1 と pml=ucx に有意差はありません。" in shown
    assert text in _unisono("show", str(path), "--lang", "ja", "--json").stdout


def test_what_differs_is_kept_in_english_and_shown_in_japanese(japanese: None) -> None:
    """It may be kept in a study; the names of what differs are translated, one word or several."""
    assert translated("it was measured with NUMA nodes per socket 1, but here it is 4") == (
        "測定時のソケットあたりの NUMA ノードは 1、ここでは 4 です"
    )
    assert translated("kernel: 5.1 there, 6.0 here") == "カーネル: あちらは 5.1、こちらは 6.0"
    assert (
        translated("it was measured with kernel 5.1 x, but here it is 6.0")
        == "測定時のカーネルは 5.1 x、ここでは 6.0 です"
    )
    rule = Rule("bcast", 0, 1024, Setting(), Interval(1, 1, 1))
    assert rule.range_text() == "up to 1 KiB", "in files"
    assert words.sizes(rule.first, rule.last) == "1 KiB 以下"


def test_what_is_no_text_of_ours_stays(japanese: None) -> None:
    for text in (
        "",
        "none",
        "UCX_TLS=self,sm",
        "Segmentation fault (core dumped)",
        "a.b.c, d e",
        "Open MPI was built with CUDA",  # beside texts of two fields and one word, such as "{time} with {setting}"
        "no node of one rank",  # a count is a number
    ):
        assert translated(text) == text


def test_english_is_untouched() -> None:
    assert language.language() == "en"
    assert language._("{path}: is a directory; name a file") == "{path}: is a directory; name a file"
    assert language.ngettext("{count} core", "{count} cores", 1) == "{count} core"
    assert language.ngettext("{count} core", "{count} cores", 2) == "{count} cores"
    assert translated("anything, at all") == "anything, at all"


def test_lines_break_by_width_and_not_before_punctuation() -> None:
    from rich.cells import cell_len

    text = (
        "測定・判断し、チューニングを各形式で書き出し、デフォルトとの比較で実証して (--verify)、レポートを作成します。"
    )
    for width in range(20, 60):
        lines = wrapped(text, width)
        assert max(map(cell_len, lines)) <= width + 2, "a closing mark may stand out"
        assert not any(line[0] in "、。）" for line in lines)
        assert "".join(line.strip() for line in lines).replace(" ", "") == text.replace(" ", "")


def _commands(text: str) -> list[str]:
    """What the code blocks of a page tell to type, without comments and the space before them."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line.split(" #")[0].rstrip() for block in blocks for line in block.splitlines() if line.strip()]


def test_the_japanese_readme_has_the_commands_figures_and_links_of_the_english_one() -> None:
    english = (ROOT / "README.md").read_text(encoding="utf-8")
    japanese = (ROOT / "README.ja.md").read_text(encoding="utf-8")
    assert "(README.ja.md)" in english and "(README.md)" in japanese
    assert len(_commands(english)) > 15
    assert _commands(japanese) == _commands(english)
    both = english.split("## What it does not do yet")[0]
    table = re.compile(r"^\| (all\w+|bcast) \| ([\d.]+) \| ([\d.]+)(?: to |～)([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)
    assert table.findall(japanese) == table.findall(both) != []
    links = re.compile(r"\]\((?!README)([^)#]+)\)")
    assert set(links.findall(japanese)) == set(links.findall(english))
