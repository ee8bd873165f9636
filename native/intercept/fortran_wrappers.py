"""The Fortran symbols of libunisono.so, in which all arguments go on as they came.

Where there are other tools (tools.h) they only go on: the bindings end in PMPI_X, in C, and there the work is done."""

from __future__ import annotations

import re

from c_wrappers import begin, dispatched, record, takes_status
from mpi_h import Function
from passing_wrappers import completes


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
            case "MPI_Comm *" | "MPI_Request *" if function.kind not in ("start", "complete"):
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
    statement = dispatched(function, fortran=True)
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


def fortran_on_end(name: str) -> str:
    """`on_end` for Fortran."""
    return f"""
static void {name}(void (*real)(void *, void *), void *f1, void *error)
{{
    dispatch_ends(PMPI_Comm_f2c(*(MPI_Fint *)f1));
    bool before = dispatch_aside(true);
    real(f1, error);
    dispatch_aside(before);
}}
"""


def fortran_status(function: Function) -> str:
    """What `record` is given for the status."""
    if function.kind != "complete":
        return "&arrived"
    last = f"f{len(function.names)}"
    return f"fortran_is_status_ignore({last}) ? NULL : {last}"


def fortran_wrapper(function: Function, f08: bool) -> str:
    """The C parameters by address, the error, hidden lengths of strings: Open MPI's ompi_x_f with its other names, or
    the symbol that `use mpi_f08` calls."""
    lower = function.name.lower()
    names = [f"f{name[1:]}" for name in function.names]
    lengths = [f"length{i}" for i, p in enumerate(function.parameters) if "char" in p.type]
    declared = ", ".join([f"void *{name}" for name in [*names, "error"]] + [f"size_t {name}" for name in lengths])
    arguments = ", ".join([*names, "error", *lengths])
    before, passed, statement = "", arguments, record(function, fortran_status(function), True)
    converting = converted(function, statement)
    if takes_status(function):
        status = names[-1]
        before = f"    MPI_Fint own[FORTRAN_STATUS], *status = fortran_is_status_ignore({status}) ? own : {status};\n"
        passed = arguments.replace(f"{status}, error", "status, error")
        converting += "        MPI_Status arrived;\n        PMPI_Status_f2c(status, &arrived);\n"
    look = unseen = ""
    if function.kind == "complete":
        count, requests = (a.replace("a", "f") for a in completes(function))
        given = f"{count if count == '1' else f'fortran_int({count})'}, {requests}, true"
        look = f"uint16_t awaited = completion_look({given});\n"
        unseen = f"        completion_unseen(awaited, {requests}, true);\n"
        before = f"    {look}    message_look({given});\n"
    if function.kind in ("request_free", "cancel"):
        before = "    message_look(1, f1, true);\n"
    freed = "PMPI_Request_f2c(fortran_int(f1))"
    always = (
        f"    request_remove({freed});\n    completion_forget({freed});\n" if function.kind == "request_free" else ""
    )
    comm = f"PMPI_Comm_f2c(fortran_int(f{function.position('MPI_Comm') + 1}))" if function.kind == "collective" else ""
    begun = f"FORTRAN{'_08' * f08}_BEGIN({lower}, ({declared}))"
    suffix = "_f08" if f08 else "_f"
    real, ways = "real", ""
    always = f"""    if (__builtin_expect(dispatch_below, false)) {{ /* it comes by PMPI_{function.name} */
        real({arguments});
        return;
    }}
{always}"""
    if function.served:
        real, ways = f"on_{lower}{suffix}", fortran_on(function, f08, f"on_{lower}{suffix}")
        arguments, passed = f"real, {arguments}", f"real, {passed}"
        always += f"""    if (!(record_active[F_{function.name}] | dispatch_active)) {{
        real({arguments.removeprefix("real, ")});
        return;
    }}
"""
    if function.ends:
        real, ways = f"on_{lower}{suffix}", fortran_on_end(f"on_{lower}{suffix}")
        arguments, passed = f"real, {arguments}", f"real, {passed}"
    end = "" if f08 else f"FORTRAN_SYMBOLS({lower}, {lower.upper()}, ({declared}));\n"
    return f"""{ways}
{begun}
{{
    FORTRAN{"_08" * f08}_REAL({lower}, ({declared}));
{always}    if (!record_active[F_{function.name}] || !record_enter()) {{
        {look}{" " * 8 * bool(look)}{real}({arguments});
{unseen}        return;
    }}
{before}    struct span begun, *span = &begun;
    {begin(function, comm)};
    {real}({passed});
    record_end(span);
    if (fortran_failed(error)) {{
        kind_failed(F_{function.name}, span);
{unseen}    }} else {{
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
    kinds = ("timed", "create", "start", "startall", "complete", "cancel", "request_free")
    return function.kind in kinds or function.rule == "barrier"
