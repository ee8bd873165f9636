"""Writes the wrappers of libunisono.so: functions.txt says what to record, the compiler's mpi.h how it is declared.

    generate.py --table functions.txt --out DIRECTORY -- mpicc [options]

writes functions.h (a number for each function), functions.c (their names), wrappers.c (the C symbols) and
fortran_wrappers.c (the Fortran ones; Open MPI only). Python 3.10 or later, standard library only.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

DECLARATION = re.compile(r"\bint\s+MPI_(\w+)\s*\(([^()]*)\)")
PARAMETER = re.compile(r"^(?P<type>.*?)(?P<name>\w+)\s*(?P<array>(\[\d*\]\s*)*)$", re.DOTALL)

SERVED = ("Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Barrier", "Bcast", "Reduce")
"""What native/dispatch serves."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a C function, as mpi.h declares it."""

    type: str
    """Without the name: "const void *"."""
    array: str
    """ "[]", "[][3]" or ""."""

    @property
    def pointer(self) -> bool:
        return self.type.endswith("*") or bool(self.array)

    def declared(self, name: str) -> str:
        return f"{self.type}{'' if self.type.endswith('*') else ' '}{name}{self.array}"


@dataclass(frozen=True)
class Function:
    """A function of the table that this MPI has."""

    name: str
    """Without MPI_."""
    kind: str
    rule: str
    """The blocking function's name in lower case: "alltoallv" for Ialltoallv_init_c."""
    parameters: tuple[Parameter, ...]

    @property
    def nonblocking(self) -> bool:
        return self.kind in ("collective", "neighborhood") and self.parameters[-1].type == "MPI_Request *"

    @property
    def persistent(self) -> bool:
        return "_init" in self.name

    @property
    def served(self) -> bool:
        """Whether dispatch may take it over."""
        return self.name.removesuffix("_c") in SERVED

    @property
    def names(self) -> list[str]:
        return [f"a{i}" for i in range(1, len(self.parameters) + 1)]

    def position(self, kind: str) -> int:
        """The first parameter of this type, counted from 0."""
        return next(i for i, parameter in enumerate(self.parameters) if parameter.type == kind and not parameter.array)

    def argument(self, kind: str) -> str:
        return self.names[self.position(kind)]


def declarations(compiler: list[str]) -> dict[str, tuple[Parameter, ...]]:
    """What this compiler's mpi.h declares, by name without MPI_."""
    done = subprocess.run(
        [*compiler, "-E", "-x", "c", "-"], input="#include <mpi.h>\n", capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(compiler)} cannot read mpi.h:\n{done.stderr}")
    text = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("#"))
    return {name: tuple(map(parameter, split(parameters))) for name, parameters in DECLARATION.findall(text)}


def split(parameters: str) -> list[str]:
    words = [" ".join(word.split()) for word in parameters.split(",")]
    return [word for word in words if word not in ("void", "")]


def parameter(text: str) -> Parameter:
    if text == "...":
        return Parameter(text, "")
    match = PARAMETER.match(text)
    if match is None:
        sys.exit(f"mpi.h: parameter {text!r} is not understood")
    return Parameter(match["type"].strip(), match["array"].replace(" ", ""))


def variants(pattern: str) -> list[tuple[str, str]]:
    """(name, rule) of what a word of the table stands for, without large counts."""
    if not pattern.startswith("{I}"):
        return [(pattern, pattern.lower())]
    name = pattern.removeprefix("{I}").removesuffix("{_init}")
    return [(word, name.lower()) for word in (name, f"I{name[0].lower()}{name[1:]}", f"{name}_init")]


def functions(table: str, declared: dict[str, tuple[Parameter, ...]]) -> list[Function]:
    found: dict[str, Function] = {}
    for line in table.splitlines():
        kind, *patterns = line.partition("#")[0].split() or [""]
        for pattern in patterns:
            for name, rule in variants(pattern):
                for full in (name, f"{name}_c"):
                    if full in declared and full not in found:
                        found[full] = Function(full, kind, rule, declared[full])
    return list(found.values())


def record(function: Function, status: str, fortran: bool) -> str:
    """The statement that records a call that succeeded; its arguments are a1 ... as C has them."""
    a = function.names
    head = f"F_{function.name}, span"
    fortran_text = "true" if fortran else "false"
    match function.kind:
        case "collective" | "neighborhood":
            comm = function.position("MPI_Comm")
            arguments = ", ".join(["group", fortran_text, *a[:comm]])
            group = f"const struct group *group = comm_group({a[comm]});\n    "
            rule = f"rule_{function.rule}({arguments})"
            if function.persistent:
                return group + f"kind_persistent({head}, group->shape, {rule}, REQUEST_NO_TARGET, *{a[-1]});"
            return group + f"kind_collective({head}, group, {rule});"
        case "send":
            return f"kind_send({head}, a2, a3, a4, a6);"
        case "send_init":
            return f"kind_send_init({head}, a2, a3, a4, a6, *a7);"
        case "recv":
            return f"kind_recv({head}, comm_group(a6)->shape, {status});"
        case "mrecv":
            return f"kind_recv({head}, NOT_KNOWN, {status});"
        case "irecv":
            return f"kind_irecv({head}, comm_group(a6)->shape, kind_expected(a2, a3, a4));"
        case "imrecv":
            return f"kind_irecv({head}, NOT_KNOWN, kind_expected(a2, a3, 0));"
        case "recv_init":
            return f"kind_persistent({head}, comm_group(a6)->shape, kind_expected(a2, a3, a4), REQUEST_NO_TARGET, *a7);"
        case "sendrecv":
            return f"kind_sendrecv({head}, a2, a3, a4, kind_received(a9, {status}), a11);"
        case "sendrecv_replace":
            return f"kind_sendrecv({head}, a2, a3, a4, kind_received(a6, {status}), a8);"
        case "isendrecv":
            return f"kind_isendrecv({head}, a2, a3, a4, a9, a11);"
        case "isendrecv_replace":
            return f"kind_isendrecv({head}, a2, a3, a4, a6, a8);"
        case "start":
            return f"kind_start({head}, 1, a1, {fortran_text});"
        case "startall":
            return f"kind_start({head}, a1, a2, {fortran_text});"
        case "request_free" | "timed" | "timed_buffer":
            comm = next(
                (n for n, p in zip(a, function.parameters, strict=False) if p.type == "MPI_Comm"), "MPI_COMM_NULL"
            )
            return f"kind_timed({head}, {comm});"
        case "create":
            made = a[[p.type for p in function.parameters].index("MPI_Comm *")]
            return f"kind_create({head}, {function.argument('MPI_Comm')}, *{made});"
        case "put":
            return f"kind_one_sided({head}, a4, rule_bytes(a2, a3), 0);"
        case "get":
            return f"kind_one_sided({head}, a4, 0, rule_bytes(a2, a3));"
        case "get_accumulate":
            return f"kind_one_sided({head}, a7, a11 == MPI_NO_OP ? 0 : rule_bytes(a2, a3), rule_bytes(a5, a6));"
        case "fetch_and_op":
            return f"kind_one_sided({head}, a4, a6 == MPI_NO_OP ? 0 : rule_bytes(1, a3), rule_bytes(1, a3));"
        case "compare_and_swap":
            return f"kind_one_sided({head}, a5, rule_bytes(1, a4), rule_bytes(1, a4));"
        case "write" | "read":
            type_at = function.position("MPI_Datatype")
            return f"kind_{function.kind}({head}, {a[type_at - 1]}, {a[type_at]});"
    sys.exit(f"functions.txt: {function.kind} is not a kind")


def takes_status(function: Function) -> bool:
    return function.kind in ("recv", "mrecv", "sendrecv", "sendrecv_replace")


def begin(function: Function, comm: str) -> str:
    if function.kind == "collective" and not function.nonblocking and not function.persistent:
        return f"record_begin_together(span, {comm})"
    return "record_begin(span)"


def dispatched(function: Function) -> str:
    """The call of dispatch.h's function; arguments as C has them, the communicator is `used`."""
    a, parameters = function.names, function.parameters
    vector = f"dispatch_vector{'_c' if function.name.endswith('_c') else ''}"
    words = []
    for i, parameter in enumerate(parameters):
        if parameter.array:  # counts, followed by displacements
            words += [f"{vector}({a[i]}, {a[i + 1]})"] if not parameters[i - 1].array else []
        else:
            words.append("&used" if parameter.type == "MPI_Comm" else a[i])
    return f"dispatch_{function.rule}({', '.join([*words, '&status'])})"


def on(function: Function) -> str:
    """Where a call goes on that may be served: the function on_NAME."""
    declared = ", ".join(p.declared(n) for p, n in zip(function.parameters, function.names, strict=True))
    comm = function.argument("MPI_Comm")
    passed = ", ".join("used" if name == comm else name for name in function.names)
    return f"""
static int on_{function.name}({declared})
{{
    MPI_Comm used = {comm};
    int status = MPI_SUCCESS;
    if (dispatch_active && {dispatched(function)})
        return status;
    return dispatch_returned({comm}, used, REAL({function.name})({passed}));
}}
"""


def wrapper(function: Function) -> str:
    names = function.names
    declared = ", ".join(p.declared(n) for p, n in zip(function.parameters, names, strict=True))
    before, passed, recorded = "", list(names), "status"
    if takes_status(function):
        before = f"    MPI_Status own, *arrived = {names[-1]} != MPI_STATUS_IGNORE ? {names[-1]} : &own;\n"
        passed[-1] = recorded = "arrived"
    always = "    request_remove(*a1);\n" if function.kind == "request_free" else ""
    comm = function.argument("MPI_Comm") if function.kind == "collective" else ""
    real, ways = f"REAL({function.name})", ""
    if function.served:
        real, ways = f"on_{function.name}", on(function)
        always = f"""    if (!(record_active[F_{function.name}] | dispatch_active))
        return REAL({function.name})({", ".join(names)});
"""
    return f"""{ways}
SYMBOL int MPI_{function.name}({declared})
{{
{always}    if (!record_active[F_{function.name}] || !record_enter())
        return {real}({", ".join(names)});
{before}    struct span begun, *span = &begun;
    {begin(function, comm)};
    int status = {real}({", ".join(passed)});
    record_end(span);
    if (status != MPI_SUCCESS)
        kind_timed(F_{function.name}, span, MPI_COMM_NULL);
    else {{
    {record(function, recorded, False)}
    }}
    record_leave();
    return status;
}}
"""


def converted(function: Function, statement: str) -> str:
    """Declarations of those a1 ... that the statement mentions, made from Fortran's f1 ..."""
    lines = []
    for name, parameter in zip(function.names, function.parameters, strict=True):
        if not re.search(rf"\b{name}\b", statement):
            continue
        fortran = f"f{name[1:]}"
        match parameter.type:
            case "MPI_Comm" | "MPI_Datatype" | "MPI_Op" if not parameter.array:
                kind = parameter.type.removeprefix("MPI_").replace("Datatype", "Type")
                lines.append(f"{parameter.type} {name} = PMPI_{kind}_f2c(fortran_int({fortran}));")
            case "int":
                value = fortran if parameter.array else f"fortran_int({fortran})"
                lines.append(f"int {'*' if parameter.array else ''}{name} = {value};")
            case "MPI_Comm *" | "MPI_Request *" if function.kind != "start":
                kind = parameter.type.removeprefix("MPI_").removesuffix(" *")
                lines.append(f"MPI_{kind} c{name} = PMPI_{kind}_f2c(fortran_int({fortran})), *{name} = &c{name};")
            case "void *" | "const void *":
                lines.append(f"void *{name} = fortran_buffer({fortran});")
            case other:
                lines.append(f"{other}{'*' if parameter.array else ''} {name} = {fortran};")
    return "".join(f"        UNUSED {line}\n" for line in lines)


def fortran_on(function: Function, f08: bool, name: str) -> str:
    """`on` for Fortran. Arguments go on as they came but for a copy's communicator.

    Open MPI's symbols of `use mpi_f08` come by ompi_x_f, which then dispatches.
    """
    names = [f"f{n[1:]}" for n in function.names]
    types = ", ".join("void *" for _ in [*names, "error"])
    declared = ", ".join(f"void *{n}" for n in [*names, "error"])
    comm = names[function.position("MPI_Comm")]
    statement = dispatched(function)
    passed = ", ".join(["&copy" if n == comm else n for n in names] + ["&failed"])
    guard = ("#ifdef OPEN_MPI\n    real({0});\n#else\n", "#endif\n") if f08 else ("", "")
    return f"""
static void {name}(void (*real)({types}), {declared})
{{
{guard[0].format(", ".join([*names, "error"]))}    MPI_Comm user = PMPI_Comm_f2c(fortran_int({comm})), used = user;
    int status = MPI_SUCCESS;
    bool served = false;
    if (dispatch_active) {{
{converted(function, statement)}        served = {statement};
    }}
    if (!served && used == user) {{
        real({", ".join([*names, "error"])});
        return;
    }}
    if (!served) {{
        MPI_Fint copy = PMPI_Comm_c2f(used), failed = MPI_SUCCESS;
        real({passed});
        status = dispatch_returned(user, used, (int)failed);
    }}
    if (error != NULL)
        *(MPI_Fint *)error = (MPI_Fint)status;
{guard[1]}}}
"""


def fortran_wrapper(function: Function, f08: bool) -> str:
    """The C parameters by address, the error, hidden lengths of strings: Open MPI's ompi_x_f with its other names, or
    the symbol that `use mpi_f08` calls."""
    lower = function.name.lower()
    names = [f"f{name[1:]}" for name in function.names]
    lengths = [f"length{i}" for i, p in enumerate(function.parameters) if "char" in p.type]
    declared = ", ".join([f"void *{name}" for name in [*names, "error"]] + [f"size_t {name}" for name in lengths])
    arguments = ", ".join([*names, "error", *lengths])
    before, passed, statement = "", arguments, record(function, "&arrived", True)
    converting = converted(function, statement)
    if takes_status(function):
        status = names[-1]
        before = f"    MPI_Fint own[FORTRAN_STATUS], *status = fortran_is_status_ignore({status}) ? own : {status};\n"
        passed = arguments.replace(f"{status}, error", "status, error")
        converting += "        MPI_Status arrived;\n        PMPI_Status_f2c(status, &arrived);\n"
    always = "    request_remove(PMPI_Request_f2c(fortran_int(f1)));\n" if function.kind == "request_free" else ""
    comm = f"PMPI_Comm_f2c(fortran_int(f{function.position('MPI_Comm') + 1}))" if function.kind == "collective" else ""
    begun = f"FORTRAN{'_08' * f08}_BEGIN({lower}, ({declared}))"
    suffix = "_f08" if f08 else "_f"
    real, ways = "real", ""
    if function.served:
        real, ways = f"on_{lower}{suffix}", fortran_on(function, f08, f"on_{lower}{suffix}")
        arguments, passed = f"real, {arguments}", f"real, {passed}"
        always = f"""    if (!(record_active[F_{function.name}] | dispatch_active)) {{
        real({arguments.removeprefix("real, ")});
        return;
    }}
"""
    end = "" if f08 else f"FORTRAN_SYMBOLS({lower}, {lower.upper()}, ({declared}));\n"
    return f"""{ways}
{begun}
{{
    FORTRAN{"_08" * f08}_REAL({lower}, ({declared}));
{always}    if (!record_active[F_{function.name}] || !record_enter()) {{
        {real}({arguments});
        return;
    }}
{before}    struct span begun, *span = &begun;
    {begin(function, comm)};
    {real}({passed});
    record_end(span);
    if (fortran_failed(error))
        kind_timed(F_{function.name}, span, MPI_COMM_NULL);
    else {{
{converting}        {statement}
    }}
    record_leave();
}}
{end}"""


def has_08_symbol(function: Function) -> bool:
    """Whether `use mpi_f08` has a symbol of its own for it that may end in PMPI_: those without a buffer.

    Open MPI's mpi_x_f08_ ends in ompi_x_f, but for functions with a LOGICAL argument. MPICH's ends in PMPI_x, but for
    functions with a buffer, which are called mpi_x_f08ts_ and end in MPI_x.
    """
    return function.kind in ("timed", "create", "start", "startall", "request_free") or function.rule == "barrier"


GENERATED = "/* Made by generate.py from functions.txt and mpi.h. */\n"


def write(out: Path, found: list[Function]) -> None:
    numbers = "".join(f"    F_{function.name},\n" for function in found)
    (out / "functions.h").write_text(
        f"{GENERATED}#ifndef UNISONO_FUNCTIONS_H\n#define UNISONO_FUNCTIONS_H\n\n"
        f"enum function {{\n    F_NONE,\n{numbers}    FUNCTIONS\n}};\n\n"
        '/* Their C names; [F_NONE] is "". */\nextern const char *const function_names[FUNCTIONS];\n\n#endif\n'
    )
    names = "".join(f'    "MPI_{function.name}",\n' for function in found)
    (out / "functions.c").write_text(
        f'{GENERATED}#include "functions.h"\n\nconst char *const function_names[FUNCTIONS] = {{\n    "",\n{names}}};\n'
    )
    (out / "wrappers.c").write_text(f'{GENERATED}#include "intercept.h"\n' + "".join(map(wrapper, found)))
    small = [function for function in found if not function.name.endswith("_c")]
    bindings = "".join(fortran_wrapper(function, False) for function in small)
    f08 = "".join(fortran_wrapper(function, True) for function in small if has_08_symbol(function))
    (out / "fortran_wrappers.c").write_text(
        f'{GENERATED}#include "fortran.h"\n#include "intercept.h"\n\n#ifdef OPEN_MPI\n{bindings}#endif\n{f08}'
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--table", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("compiler", nargs="+")
    given = options.parse_args()
    declared = declarations(given.compiler)
    if "Send" not in declared:
        sys.exit(f"{' '.join(given.compiler)}: its mpi.h declares no MPI_Send")
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out, functions(given.table.read_text(), declared))


if __name__ == "__main__":
    main()
