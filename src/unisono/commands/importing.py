"""`unisono import-results`: outputs of other benchmarks become a study, its tuning and its report."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from unisono.commands.console import err
from unisono.core.errors import UserError
from unisono.core.language import _, ngettext
from unisono.core.vocabulary import DEFAULT, Setting


def import_results(
    files: Sequence[str], output: Path, *, machine: Path | None, nodes: int | None, ppn: int | None, name: str
) -> None:
    """Reads the files and writes study.db, tuning.toml and report.html. What cannot be decided leaves the study."""
    from unisono.decide.document import from_decision
    from unisono.inventory.describe import load
    from unisono.report.report import write_report
    from unisono.results.readers import read_file
    from unisono.results.study import Source, make_study
    from unisono.search.verdict import decide_study
    from unisono.study.files import Outputs
    from unisono.tuning import write

    outputs = Outputs(output)
    described = load(machine) if machine is not None else None
    sources = [Source(path, read_file(path), setting) for word in files for path, setting in _files(word)]
    with make_study(outputs.study, sources, machine=described, nodes=nodes, ppn=ppn, name=name) as store:
        data = store.data()
    console = err()
    console.print(
        ngettext(
            "{study}: {samples} samples of {files} file", "{study}: {samples} samples of {files} files", len(sources)
        ).format(study=outputs.study, samples=len(data.samples), files=len(sources)),
        markup=False,
    )
    try:
        decision = decide_study(data)
    except UserError as error:
        raise UserError(
            _("{study}: is kept, but cannot be decided: {error}").format(study=outputs.study, error=error)
        ) from error
    tuning = from_decision(decision, data)
    write(tuning, outputs.tuning)
    write_report(data, decision, outputs.report, tuning=tuning, verification=None)
    console.print(_("Decided: {tuning}, {report}").format(tuning=outputs.tuning, report=outputs.report), markup=False)


def _files(word: str) -> list[tuple[Path, Setting]]:
    """FILE, or NAME=VALUE,...@FILE, or the latter with a pattern (ring-*.txt), which no shell expands behind the @.
    Raises UserError."""
    before, at, path = word.partition("@")
    if not at or "=" not in before or Path(word).exists():
        return [(Path(word), DEFAULT)]
    values = {}
    for part in before.split(","):
        name, _equals, value = part.partition("=")
        if not name.strip() or not value.strip():
            raise UserError(
                _("{word}: {part!r} is no setting; write for example coll=tuned,algorithm=ring@FILE").format(
                    word=word, part=part
                )
            )
        values[name.strip()] = value.strip()
    expanded = [path] if Path(path).exists() else sorted(glob.glob(path)) or [path]  # noqa: PTH207 (may be absolute)
    return [(Path(name), Setting(values)) for name in expanded]
