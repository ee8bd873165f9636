"""A good file of every kind that Unisono reads, small enough that damage to it hits something."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.advise.made import Call
from tests.advise.made import profile as made_profile
from tests.hybrid.test_decide import answer
from tests.profile.raw_samples import cell, part, raw_file
from tests.report import synthetic
from tests.tuning.samples import machine, plan, rule, tuned, tuning
from unisono.advise.journal import Journal, Round, Trial
from unisono.advise.runs import Run
from unisono.cmdline.layouts import Layout
from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Setting
from unisono.export import dispatch
from unisono.export.files import export
from unisono.hybrid.variants import Variant
from unisono.measure.protocol import OwnAlgorithm
from unisono.profile.file import save
from unisono.study.ours import Candidates, as_text
from unisono.study.store import Statistics, Store
from unisono.tuning.contents import LayoutModel
from unisono.tuning.document import write

STUDY = """
[study]
name = "fire"
[cases]
collectives = ["allreduce", "alltoall", "barrier"]
nodes = [1]
ppn = [2, "cores"]
[sizes]
from = "8"
to = "1 MiB"
step = 4
extra = [12, "3K"]
[[sizes.limit]]
collective = "alltoall"
to = "64K"
[parameters]
UCX_RNDV_THRESH = ["8kb", "64kb"]
placement = ["all"]
algorithm = ["ring"]
[method]
name = "race"
budget = "4m"
margin = 0.03
[measure]
seconds = 0.02
timeout = "60s"
[weights]
allreduce = 2.0
[[exclude]]
collective = "barrier"
UCX_RNDV_THRESH = "8kb"
[boot]
NPS = [1, 4]
"""
SAMPLES = Path(__file__).parents[1] / "profile" / "samples"
_STUDIES = Path(__file__).parents[2] / "studies"


def study_db(path: Path) -> None:
    """A race of a few settings, with all that a finished one keeps."""
    data = synthetic.study(sizes=(8, 1024, 65536), launches=3, launch_settings=[DEFAULT, Setting({"pml": "ob1"})])
    meta = {"margin": data.margin, "confidence": data.confidence, "weights": dict(data.weights), "scope": ["coll"]}
    offered: Candidates = {(1, 2, None): {"bcast": (OwnAlgorithm("bcast", "cells", 0, "by cells", ""),)}}
    gain = {"mid": 1.5, "low": 1.2, "high": 1.8}
    proof = {
        "confidence": 0.95,
        "cases": [
            {"collective": "alltoall", "nodes": 1, "ppn": 2, "gain": gain, "launches": 3, "verdict": "faster",
             "wrong": [], "sizes": [{"size": 8, "gain": gain, "as_is": [1e-6, 2e-6], "tuned": [1e-6, 1e-6]}]}
        ],
        "failures": [{"nodes": 1, "ppn": 2, "pair": 0, "tuned": True, "status": "hung", "reason": "no answer"}],
        "commands": ["mpirun"], "notes": ["A note."],
    }  # fmt: skip
    values = {**meta, "ours": as_text(offered), "verification": proof}
    config = json.dumps({"study": {"name": "fire"}, "cases": {"collectives": ["allreduce", "alltoall"], "ppn": [2]}})
    with Store.create(
        path, name=data.name, config=config, method=data.method, machine=data.machine, meta=values
    ) as store:
        for row in data.launches:
            launch = store.begin_launch(row.setting, row.nodes, row.ppn, row.round, row.command, row.oversubscribed)
            for s in data.samples:
                if s.launch == row.id:
                    numbers = (s.minimum, s.q1, s.median, s.q3, s.p95, s.mean, s.trimmed)
                    kept = Statistics(s.repetitions, s.discarded, s.sync, *numbers, s.correct, 80.0)
                    raw = np.arange(5, dtype="<i8").tobytes()
                    store.add_sample(launch, s.case.collective, s.size, s.setting, kept, raw)
            store.end_launch(launch, row.status, row.reason, row.seconds, "noise", {"ranks": 2})
        for (nodes, ppn), limits in data.limits.items():
            store.add_limits(nodes, ppn, 1, limits)
        refusal = data.refusals[0]
        store.add_refusal(refusal.launch, refusal.collective, refusal.size, refusal.setting, refusal.reason)
        store.add_note("A note.")


def hybrid_db(path: Path) -> None:
    """Two layouts of the solver, four rounds each."""
    here = machine()
    meta = {"margin": 0.03, "confidence": 0.95, "weights": {}, "scope": [], "metric": "time to solution"}
    with Store.create(
        path, name="hybrid: solver 64", config="solver 64", method="hybrid", machine=here, meta=meta
    ) as store:
        for round in range(4):
            for layout, packing, seconds in ((Layout(1, 4), "single", 1.0), (Layout(2, 2), "threads", 0.8)):
                variant = Variant(1, layout, "none", packing, DEFAULT)
                launch = store.begin_launch(variant.setting, 1, layout.processes, round, "mpirun solver", False)
                took = seconds * (1 + round / 100)
                kept = Statistics(1, 0, "program", took, took, took, took, took, took, took, None)
                store.add_sample(launch, "program", 0, variant.setting, kept, b"")
                beside = [{"iterations": 10, "triads": [20.0, 21.0]}, {"iterations": 12, "triads": [20.5, 20.5]}]
                store.end_launch(launch, "done", "", took, "", {**answer(took), "beside": beside})


def tuning_toml(path: Path) -> None:
    """Plans with and without our library, rules, a joint gain, costs, a layout."""
    ours = {"coll": "unisono", "algorithm": "cells"}
    plans = (
        plan(1, 4, {"preload": "unisono"}, {"allreduce": 1.4, "alltoall": 1.6},
             (rule("allreduce", 0, 4095, ours, sizes=(8, 64)), rule("alltoall", 0, None, {"coll": "tuned"}))),
        plan(1, 4, {"UCX_RNDV_THRESH": "16kb"}, {"allreduce": 1.1, "alltoall": 1.2},
             (rule("allreduce", 4096, None, tuned("ring", segment="8192"), sizes=(4096, 65536)),)),
        plan(1, 4, {}, {"allreduce": 1.0, "alltoall": 1.0}),
    )  # fmt: skip
    layout = LayoutModel(
        program="solver 64", nodes=1, threads=2, processes=2, reference="flat MPI",
        gain=Interval(mid=1.2, low=1.1, high=1.3), proven=True, launches=8, study="abc",
    )  # fmt: skip
    write(tuning(*plans, weights={"allreduce": 1.0, "alltoall": 2.0}).model_copy(update={"layout": (layout,)}), path)


def study_toml(path: Path) -> None:
    path.write_text(STUDY)


def machine_json(path: Path) -> None:
    path.write_bytes((_STUDIES / "machines" / "BM.Optimized3.36-nps2.json").read_bytes())


def raw_profile(path: Path) -> None:
    parts = [
        part(rank, 2, cells=[cell(), cell(path=1, size=64), cell(path=2, function=2)], pairs=[(1 - rank, 5, 500)])
        for rank in range(2)
    ]
    path.write_bytes(raw_file(*parts))


def profile_file(path: Path) -> None:
    save(made_profile([Call("MPI_Alltoall"), Call("MPI_Send", ("main", "step"), 64, 5, 0.5)]), path)


def sample(name: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes((SAMPLES / name).read_bytes())

    return make


def exported(format: str, name: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        made = tuning(plan(1, 2, {}, {"bcast": 1.1}, (rule("bcast", 0, None, tuned("pipeline"), sizes=(8, 64)),)))
        export(made, format, made.plan[0], machine(), path.parent)
        text = (path.parent / name).read_text()
        path.write_text(text)

    return make


def rules(path: Path) -> None:
    one = dispatch.Rule("alltoall", "1", "2", 0, 4095, ("unisono/pull", "mpi"))
    two = dispatch.Rule("bcast", "8@2x2x2", "*", 0, None, ("mpi",))
    path.write_text(dispatch.write(dispatch.Rules((one, two), dict.fromkeys(dispatch.COSTS, 1e-9)), ["A comment."]))


def journal(path: Path) -> None:
    runs = [Run(0, False, "done", "", 1.5, 1.6), Run(0, True, "done", "", 1.4, 1.5)]
    trial = Trial(launch={"pml": "ob1"}, predicted=(0.1, 0.05, 0.2), command="mpirun ./a", runs=runs, verdict="faster")
    whole = Journal(argv=["mpirun", "./a"], metric=None, machine={"CPU": "x"}, pairs=7, rounds=[Round(trials=[trial])])
    whole.save(path)


def text(content: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_text(content)

    return make


ORIGINALS: dict[str, Callable[[Path], None]] = {
    "study.db": study_db,
    "hybrid.db": hybrid_db,
    "tuning.toml": tuning_toml,
    "study.toml": study_toml,
    "machine.json": machine_json,
    "raw profile": raw_profile,
    "profile": profile_file,
    **{name: sample(name) for name in sorted(path.name for path in SAMPLES.iterdir()) if name != "README.md"},
    "openmpi-mca-params.conf": exported("openmpi", "openmpi-mca-params.conf"),
    "openmpi-rules.conf": exported("openmpi", "openmpi-rules.conf"),
    "env.sh": exported("shell", "env.sh"),
    "mpirun.txt": exported("mpirun", "mpirun.txt"),
    "unisono-rules": rules,
    "journal": journal,
    "hosts": text("# nodes\na slots=4 max_slots=8\nuser@b slots = 2\nc\nd:3\n"),
    "command line": text(
        "mpirun --host a:2,b:2 -n 4 --map-by ppr:2:node --mca pml ucx -x UCX_TLS=tcp ./app 1 : -n 2 x\n"
    ),
    "hydra line": text("mpirun -n 8 -ppn 4 -hosts a:4,b:4 -genv UCX_TLS tcp ./app 1\n"),
    "srun line": text("srun -N 2 -n 8 --ntasks-per-node=4 --export=ALL ./app\n"),
    "nodes of a job": text("n[1-3,07],login,rack[1-2]node[10-12] 36(x2),18 0-3,8,10-20:2/5 2(x3),1 0,2,5-7\n"),
    "coordinates": text("# torus\nextents 2x2x3 torus mesh torus\nnames n%x-%y-%z\na 0 0 0\nb 1 1 2\n"),
    "filter": text("exclude MPI_Iprobe\ninclude MPI_*  # all\n"),
    "ucx.conf": text("# ours\nUCX_TLS=tcp\nUCX_RNDV_THRESH=8kb\n[on Intel]\nUCX_X=1\n"),
    "arguments": text("--size 64K --budget 10m --hosts a:2,b:3 --layouts flat,2x2 --weights alltoall=0.8,bcast=1\n"),
}
"""What is read, by its name -> writes a good one to a path."""
