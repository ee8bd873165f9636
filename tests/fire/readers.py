"""What Unisono does with a file of each kind, as its commands do: reads it, and works on what it read."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.tuning.samples import machine as openmpi
from unisono.advise.advice import advise
from unisono.advise.evidence import StudyEvidence, TuningEvidence
from unisono.advise.journal import Journal
from unisono.advise.mix import mix_of
from unisono.advise.shown import rendered
from unisono.cmdline.hosts import parse_hosts
from unisono.cmdline.job import Place, describe_job
from unisono.cmdline.layouts import chosen_layouts
from unisono.cmdline.rewrite import with_setting
from unisono.commands import planning
from unisono.core.errors import UserError
from unisono.core.reading import DOCUMENT_MOST, read_bytes, read_text
from unisono.core.sizes import parse_size
from unisono.core.vocabulary import Setting
from unisono.decide.compare import compare
from unisono.decide.document import from_decision
from unisono.export import FORMATS, dispatch, exportable, keyval, shell
from unisono.export import arguments as words_file
from unisono.export import tuned_rules as rules
from unisono.export.words import plan_words
from unisono.hybrid.compare import compare as compare_layouts
from unisono.hybrid.keep import layouts
from unisono.hybrid.show import ranking
from unisono.hybrid.solver import check_size
from unisono.hybrid.study import is_hybrid
from unisono.hybrid.study import read as read_hybrid
from unisono.inventory import ucx
from unisono.inventory.describe import load
from unisono.inventory.hosts import expand_counts, expand_nodelist, slurm_slots
from unisono.machine import coordinates
from unisono.machine.files import parse_cpu_list
from unisono.mpi.launchers import hydra
from unisono.mpi.launchers.lines import Wanted
from unisono.mpi.launchers.mpirun.job import expand_numbers, parse_hostfile
from unisono.parameters.doctor import doctor_json, print_doctor
from unisono.parameters.spelling import require_mpi
from unisono.profile.document import as_dict
from unisono.profile.exporters import EXTENSIONS, export_profile
from unisono.profile.file import load as load_profile
from unisono.profile.file import save
from unisono.profile.importers import import_profile
from unisono.profile.record import Options
from unisono.profile.show import show as show_profile
from unisono.report.explorer.page import write_explorer
from unisono.report.hybrid import write_hybrid_report
from unisono.report.report import write_comparison_report, write_report
from unisono.search.planned import estimate, planned
from unisono.search.verdict import decide_study, stored_verification
from unisono.study.asked import scope
from unisono.study.begin import stored_candidates, stored_study
from unisono.study.config import parse_duration, read_study
from unisono.study.matrix import expand
from unisono.study.ours import from_text
from unisono.study.store import Store
from unisono.tuning import choose, lookup
from unisono.tuning import read as read_tuning
from unisono.tuning import render as render_tuning
from unisono.tuning.asked import weights
from unisono.tuning.explain import explain
from unisono.tuning.show import show as show_tuning

STUDIES = Path(__file__).parents[2] / "studies"
HERE = openmpi()


def _console() -> Console:
    return Console(file=io.StringIO(), width=100, highlight=False)  # as commands.console has it


def _show(*shown: Any) -> None:
    console = _console()
    for one in shown:
        console.print(one)


def _allowed(call: Callable[[], object]) -> None:
    """What may be refused by itself without an end to the rest."""
    with suppress(UserError):
        call()


def study(path: Path) -> None:
    """report, compare, advise, profile report --study, tune --resume."""
    with Store.open(path) as store:
        if is_hybrid(store):
            hybrid(path)
            return
        data = store.data()
        verification = stored_verification(store)
        held = stored_study(store)
        from_text(stored_candidates(store) or "[]")
        with suppress(KeyError, UserError):
            store.raw(1, "allreduce", 8, Setting())
    decision = decide_study(data)
    tuning = from_decision(decision, data)
    page = path.with_suffix(".html")
    write_report(data, decision, page, tuning=tuning, verification=verification)
    _show(show_tuning(tuning))
    render_tuning(tuning)
    _allowed(lambda: write_comparison_report(compare(data, data), [data, data], page))
    _allowed(lambda: StudyEvidence(data, tuning))
    _allowed(lambda: expand(held, data.machine))
    with Store.open(path, write=True) as store:
        store.mark_interrupted()
        store.add_note("Continued.")


def hybrid(path: Path) -> None:
    """report, compare, hybrid --resume."""
    with Store.open(path) as store:
        if not is_hybrid(store):
            study(path)
            return
        found = read_hybrid(store)
    write_hybrid_report(found, path.with_suffix(".html"))
    _show(ranking(found.decision))
    json.dumps(found.decision.as_dict(), allow_nan=False)
    layouts(found.decision, found.data, found.program, found.metric)
    _allowed(lambda: compare_layouts([found, found]))
    with Store.open(path, write=True) as store:
        store.mark_interrupted()


def tuning(path: Path) -> None:
    """show, lookup, explain, export, run --print, advise."""
    found = read_tuning(path, layouts=True)
    _show(show_tuning(found))
    json.dumps(json.loads(found.model_dump_json(by_alias=True)), allow_nan=False)
    render_tuning(found)
    for size in (8, 65536):
        for collective in found.collectives():
            _allowed(lambda size=size, collective=collective: lookup(found, collective, 1, 4, size).as_dict())  # type: ignore[misc]
            _allowed(lambda size=size, collective=collective: explain(found, collective, 1, 4, size).as_dict())  # type: ignore[misc]
    for nodes, ppn in found.cases():
        with suppress(UserError):
            chosen = choose(found, nodes, ppn)
            for format in FORMATS:
                plan, _ = exportable(found, chosen, format)
                _allowed(lambda plan=plan: plan_words(found, plan, HERE))  # type: ignore[misc]
            _allowed(lambda chosen=chosen: with_setting(["mpirun", "-n", "4", "x"], chosen.launch, HERE, env={}))  # type: ignore[misc]


def study_file(path: Path) -> None:
    """tune --dry-run."""
    asked, _ = read_study(path)
    matrix = expand(asked, HERE, scope=scope(asked))
    planned(asked, matrix)
    estimate(asked, matrix)


def machine(path: Path) -> None:
    """tune --dry-run --machine."""
    found = load(path)
    print_doctor(found, _console())
    json.dumps(doctor_json(found), allow_nan=False)
    quick, _ = read_study(STUDIES / "quick.toml")
    matrix = expand(quick, found, scope=scope(quick))
    for task in planned(quick, matrix)[:3]:
        planning._line(quick, found, matrix, task, None)


def profile(path: Path) -> None:
    """profile show, report, import, export, and advise."""
    found = import_profile(path)
    _show(show_profile(found, hot=10, width=100))
    json.dumps(as_dict(found), allow_nan=False)
    write_explorer(found, path.with_suffix(".html"), name="fire")
    save(found, path.with_suffix(".saved"))
    load_profile(path.with_suffix(".saved"))
    for format in EXTENSIONS:
        _allowed(lambda format=format: export_profile(found, path.with_suffix(".exported"), format))  # type: ignore[misc]
    with suppress(UserError):
        mix = mix_of(found)
        document = _tuning(path.parent)
        made = advise(
            mix, document, [TuningEvidence(document)], now=None, tuning_path="t", again="a", program="p", cpus=2
        )
        _show(rendered(made))
        json.dumps(made.as_dict(), allow_nan=False)


def _tuning(folder: Path) -> Any:
    from tests.fire.originals import tuning_toml

    place = folder / "good.toml"
    if not place.exists():
        tuning_toml(place)
    return read_tuning(place)


def dispatched(path: Path) -> None:
    found = dispatch.read(read_text(path), str(path))
    dispatch.write(found)
    found.find("alltoall", 1, 2, 64)


def tuned_rules(path: Path) -> None:
    text = read_text(path)
    rules.write(rules.read(text, str(path)))
    rules.entries(text, str(path))


def host_file(path: Path) -> None:
    parse_hostfile(read_text(path), str(path))
    _allowed(lambda: describe_job(["mpirun", "--hostfile", str(path), "-n", "3", "x"], HERE, {}))
    describe_job(["mpirun", "--hostfile", str(path), "x"], HERE, {})


def command_line(path: Path) -> None:
    words = read_text(path).split() or [""]
    wanted = Setting({"placement": "block", "UCX_RNDV_THRESH": "16kb"})
    _allowed(lambda: describe_job(words, HERE, {}))
    _allowed(lambda: with_setting(words, wanted, HERE, env={}))
    _allowed(lambda: hydra.job(words, Place(HERE, {})))
    _allowed(lambda: hydra.taken_apart(words))
    hydra.added(words, Wanted({}, {}, None), Place(HERE, {}), require_mpi(HERE))


def node_lists(path: Path) -> None:
    words = [*read_text(path).split(), "", "", "", "", ""]
    expand_nodelist(words[0])
    expand_counts(words[1])
    parse_cpu_list(words[2])
    slurm_slots({"SLURM_TASKS_PER_NODE": words[3]})
    _allowed(lambda: expand_numbers(words[4]))


def torus(path: Path) -> None:
    said = coordinates.described({coordinates.VARIABLE: str(path)}, ["a", "n1-1-1", "x" * 300], None)
    if said.endswith("end with this line"):
        raise UserError(said)


def ucx_file(path: Path) -> dict[str, str]:
    """What tune and doctor take from it, as UCX does: a line that says nothing is none, so that nothing is refused."""
    return ucx.parse_settings(read_bytes(path, DOCUMENT_MOST).decode("utf-8", "replace"))


def arguments(path: Path) -> None:
    """Values of options."""
    words = [*read_text(path).split(), *[""] * 12]
    _allowed(lambda: parse_size(words[1], "--size"))
    _allowed(lambda: check_size(words[1]))
    _allowed(lambda: parse_duration(words[3], "--budget"))
    _allowed(lambda: parse_hosts(words[5]))
    _allowed(lambda: chosen_layouts(words[7], 4))
    _allowed(lambda: weights(None, words[9]))


READERS: dict[str, Callable[[Path], object]] = {
    "study.db": study,
    "hybrid.db": hybrid,
    "tuning.toml": tuning,
    "study.toml": study_file,
    "machine.json": machine,
    "openmpi-mca-params.conf": lambda path: keyval.read(read_text(path), str(path)),
    "openmpi-rules.conf": tuned_rules,
    "env.sh": lambda path: shell.read(read_text(path), str(path)),
    "mpirun.txt": lambda path: words_file.read(read_text(path), str(path)),
    "unisono-rules": dispatched,
    "journal": Journal.load,
    "hosts": host_file,
    "command line": command_line,
    "hydra line": command_line,
    "srun line": command_line,
    "nodes of a job": node_lists,
    "coordinates": torus,
    "filter": lambda path: Options(filter=path).variables(path),
    "ucx.conf": ucx_file,
    "arguments": arguments,
}
"""By the names of ORIGINALS; all others are profiles."""
NEVER_REFUSED: dict[str, Callable[[Path], object]] = {"ucx.conf": ucx_file}
"""Of these it is told whether they were read as before they were damaged."""


def reader(name: str) -> Callable[[Path], object]:
    return READERS.get(name, profile)
