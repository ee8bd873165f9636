from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from unisono.profile.recorded import Frame
from unisono.profile.symbols import readable, symbolise, tidy

_SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
__attribute__((noinline)) static void here(void)
{
    Dl_info info;
    void *address = __builtin_return_address(0);
    dladdr(address, &info);
    const unsigned char *header = info.dli_fbase;
    printf("%#lx\\n", (long)((uintptr_t)address - (header[16] == 3 ? (uintptr_t)info.dli_fbase : 0)));
}
static inline __attribute__((always_inline)) void inlined(void)
{
    here(); /* line 16 */
}
__attribute__((noinline)) void caller(void)
{
    inlined(); /* line 20 */
    here(); /* line 21 */
    __asm__ volatile("" ::: "memory"); /* no call in tail position */
}
int main(void)
{
    caller();
    return 0;
}
"""


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def _build(folder: Path, source: str, *flags: str, compiler: str = "cc", ending: str = ".c") -> Path:
    _tool("addr2line")
    text, program = folder / f"program{ending}", folder / "program"
    text.write_text(source)
    subprocess.run([_tool(compiler), *flags, "-o", program, text, "-ldl"], check=True, timeout=60, cwd=folder)
    return program


def _said(program: Path) -> list[int]:
    out = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True, timeout=20).stdout
    return [int(word, 16) for word in out.split()]


@pytest.mark.parametrize("flags", [("-pie", "-fPIE"), ("-no-pie", "-fno-pie")])
def test_lines_and_inlined_functions(tmp_path: Path, flags: tuple[str, ...]) -> None:
    program = _build(tmp_path, _SOURCE, "-g", "-O2", *flags)
    first, second = _said(program)
    chains = symbolise([(str(program), second), (str(program), first), (str(program), second)])
    assert [(f.function, f.line, f.inlined) for f in chains[1]] == [("inlined", 16, True), ("caller", 20, False)]
    assert [(f.function, f.line, f.inlined) for f in chains[0]] == [("caller", 21, False)]
    assert chains[0] == chains[2]
    for frame, offset in ((chains[1][0], first), (chains[1][1], first), (chains[0][0], second)):
        assert (frame.module, frame.offset, frame.file) == ("program", offset, str(tmp_path / "program.c"))


def test_without_debug_information_and_with_it_in_a_file_of_its_own(tmp_path: Path) -> None:
    program = _build(tmp_path, _SOURCE, "-g", "-O2")
    first, _ = _said(program)
    objcopy = _tool("objcopy")
    subprocess.run([objcopy, "--only-keep-debug", program, tmp_path / "program.debug"], check=True, timeout=20)
    subprocess.run([objcopy, "--strip-debug", program], check=True, timeout=20)
    (chain,) = symbolise([(str(program), first)])
    assert [(f.function, f.line) for f in chain] == [("caller", 0)]
    subprocess.run([_tool("strip"), "-s", program], check=True, timeout=20)
    (chain,) = symbolise([(str(program), first)])
    assert [(f.function, f.label) for f in chain] == [("", f"program+{first:#x}")]
    link = f"--add-gnu-debuglink={tmp_path / 'program.debug'}"
    subprocess.run([objcopy, link, program], check=True, timeout=20, cwd=tmp_path)
    (chain,) = symbolise([(str(program), first)])
    assert [(f.function, f.line) for f in chain] == [("inlined", 16), ("caller", 20)]


def test_a_stripped_program_that_exports_some_functions_lends_their_names_to_no_other(tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    exports.write_text("{ main; };")
    program = _build(tmp_path, _SOURCE, "-O2", f"-Wl,--dynamic-list={exports}")
    first, _ = _said(program)
    (named,) = symbolise([(str(program), first)])
    assert named[-1].function == "caller"
    subprocess.run([_tool("strip"), "-s", program], check=True, timeout=20)
    (chain,) = symbolise([(str(program), first)])
    assert [frame.function for frame in chain] == [""]


def test_fortran(tmp_path: Path) -> None:
    source = """
module transposes
contains
  subroutine x_yz(n)
    integer, intent(in) :: n
    print *, n
  end subroutine
end module
subroutine transpose(n)
  use transposes
  integer, intent(in) :: n
  call x_yz(n)
end subroutine
program p
  call transpose(2)
end program
"""
    _tool("gfortran")
    program = _build(tmp_path, source, "-g", "-O0", compiler="gfortran", ending=".f90")
    listed = subprocess.run([_tool("nm"), program], check=True, stdout=subprocess.PIPE, text=True, timeout=20).stdout
    where = {line.split()[2]: int(line.split()[0], 16) for line in listed.splitlines() if len(line.split()) == 3}
    chains = symbolise([(str(program), where[name] + 5) for name in ("__transposes_MOD_x_yz", "transpose_")])
    assert [chain[-1].function for chain in chains] == ["transposes::x_yz", "transpose"]


def test_inlined_fortran_that_addr2line_misnames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {
        0x100: [("MAIN__", "ft.F90:55"), ("ft", "ft.F90:33")],
        0x200: [("__fft_MOD_turn", "fft.f90:79"), ("check", "ft.f90:7"), ("__fft_MOD_turn", "fft.f90:48")],
        0x300: [("__fft_MOD_pack", "fft.f90:12"), ("__fft_MOD_turn", "fft.f90:50")],
        0x400: [("walk", "tree.c:12"), ("walk", "tree.c:14")],  # C is named rightly: recursion inlined into itself
    }
    lines = [line for at, all_of in said.items() for line in (hex(at - 1), *(word for one in all_of for word in one))]
    tool = tmp_path / "addr2line"
    tool.write_text("#!/bin/sh\n" + "".join(f"echo {line}\n" for line in lines))
    tool.chmod(0o755)
    program = tmp_path / "program"
    program.touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    chains = symbolise([(str(program), at) for at in said])
    assert [[(frame.function, frame.line) for frame in chain] for chain in chains] == [
        [("ft", 33)],
        [("check", 7), ("fft::turn", 48)],
        [("fft::pack", 12), ("fft::turn", 50)],
        [("walk", 12), ("walk", 14)],
    ]
    assert [chain[-1].inlined for chain in chains] == [False] * 4


def test_objects_that_cannot_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "text.so"
    text.write_text("not an object")
    places = [("", 0x1234), (str(tmp_path / "gone.so"), 16), ("/dev/null", 8), (str(text), 4), ("/no\0such", 4)]
    labels = ["?+0x1234", "gone.so+0x10", "null+0x8", "text.so+0x4", "no\0such+0x4"]
    assert [[f.label for f in chain] for chain in symbolise(places)] == [[label] for label in labels]
    program = _build(tmp_path, _SOURCE, "-g")
    monkeypatch.setenv("PATH", str(tmp_path))
    (chain,) = symbolise([(str(program), 0x1140)])
    assert chain == (Frame("", "program", 0x1140),)


@pytest.mark.parametrize(
    ("symbol", "file", "name"),
    [
        ("exchange.constprop.0", "a.c", "exchange"),
        ("exchange.part.0.isra.0", "", "exchange"),
        ("solve<int>(int) [clone .isra.0]", "", "solve<int>(int)"),
        ("main._omp_fn.0", "a.c", "main._omp_fn.0"),
        ("transpose_", "ft.f90", "transpose"),
        ("transpose_", "ft.c", "transpose_"),
        ("transpose_", "", "transpose_"),
        ("MAIN__", "ft.f90", "MAIN__"),
        ("__fft_mod_MOD_transpose_x_yz", "", "fft_mod::transpose_x_yz"),
        ("fft_mp_transpose_", "", "fft::transpose"),
        ("_QMfftPtranspose", "", "fft::transpose"),
        ("Grid::halo(double*)", "a.cpp", "Grid::halo(double*)"),
    ],
)
def test_names_as_their_author_wrote_them(symbol: str, file: str, name: str) -> None:
    assert tidy(symbol, file) == name


def test_what_calls_main_is_no_part_of_the_program() -> None:
    main = Frame("main", "app", 3)
    start = [Frame("", "libc.so.6", 4), Frame("__libc_start_main", "libc.so.6", 5), Frame("_start", "app", 6)]
    assert readable([Frame("f", "app", 2), main, *start]) == [Frame("f", "app", 2), main]
    stripped = Frame("", "app", 9)
    assert readable([stripped, *start]) == [stripped]
    assert readable([stripped, Frame("start_thread", "libc.so.6", 1), Frame("clone3", "libc.so.6", 2)]) == [stripped]
    # A callback of the C library inside the program stays: qsort calls compare.
    inside = [Frame("compare", "app", 1), Frame("qsort", "libc.so.6", 7), main]
    assert readable(inside) == inside
    assert readable([]) == []


def test_a_recorder_that_is_linked_into_the_program_is_no_part_of_it() -> None:
    own = [Frame(name, "app", 1) for name in ("unisono_callpath", "record_call", "kind_collective", "MPI_Bcast")]
    rest = [Frame("mpi_exchange_", "app", 2), Frame("main", "app", 3)]
    assert readable([*own, *rest]) == rest
    assert readable([*own, Frame("mpi_bcast_", "app", 4), *rest]) == rest
    assert readable([*own[:2], *rest[1:]]) == [*own[:2], *rest[1:]]  # without symbols: what there is


def test_python_programs_stay_readable() -> None:
    chain = [
        Frame("__pyx_f_6mpi4py_3MPI_10_p_msg_cco_alltoall", "MPI.cpython-311-x86_64-linux-gnu.so", 1),
        Frame("__pyx_pw_6mpi4py_3MPI_4Comm_167Alltoall", "MPI.cpython-311-x86_64-linux-gnu.so", 2),
        Frame("cfunction_call", "libpython3.11.so.1.0", 3),
        Frame("_PyEval_EvalFrameDefault", "libpython3.11.so.1.0", 4),
        Frame("apply", "kernels.so", 5),
        Frame("_PyEval_Vector", "python3.11", 6),
        Frame("main", "python3.11", 7),
        Frame("__libc_start_main", "libc.so.6", 8),
    ]
    labels = ["mpi4py.MPI.Comm.Alltoall", "(python)", "apply", "(python)"]
    assert [frame.label for frame in readable(chain)] == labels
    stripped = [Frame("", "MPI.abi3.so", 1), Frame("", "libpython3.12.so.1.0", 2)]
    assert [frame.label for frame in readable(stripped)] == ["(mpi4py)", "(python)"]
