"""The C symbols of libunisono.so, one wrapper for each function of the table (here_X), and what leads there."""

from __future__ import annotations

import sys

from mpi_h import Function
from on_wrappers import completes, on, on_aside, on_passing


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
            rule = f"args_{function.rule}({arguments})"
            if function.persistent:
                return group + f"kind_persistent({head}, group->shape, {rule}, REQUEST_NO_TARGET, *{a[-1]});"
            if function.nonblocking:
                return group + f"kind_posted({head}, group, {rule}, *{a[-1]});"
            return group + f"kind_collective({head}, group, {rule});"
        case "send":
            request = "*a7" if function.name.startswith("I") else "MPI_REQUEST_NULL"
            return f"kind_send({head}, a2, a3, a4, a5, a6, {request});"
        case "send_init":
            return f"kind_send_init({head}, a2, a3, a4, a5, a6, *a7);"
        case "recv":
            return f"kind_recv({head}, a6, {status});"
        case "mrecv":
            return f"kind_mrecv({head}, {status});"
        case "irecv":
            return f"kind_irecv({head}, kind_expected(a2, a3, a4), a4, a5, a6, *a7);"
        case "imrecv":
            return f"kind_imrecv({head}, kind_expected(a2, a3, 0));"
        case "recv_init":
            expected = "kind_expected(a2, a3, a4), MESSAGE_RECEIVE"
            return f"kind_persistent_message({head}, comm_group(a6), {expected}, a6, a4, a5, *a7);"
        case "sendrecv":
            return f"kind_sendrecv({head}, a2, a3, a4, a5, kind_received(a9, {status}), a9, {status}, a11);"
        case "sendrecv_replace":
            return f"kind_sendrecv({head}, a2, a3, a4, a5, kind_received(a6, {status}), a6, {status}, a8);"
        case "isendrecv":
            return f"kind_isendrecv({head}, a2, a3, a4, a9, a11);"
        case "isendrecv_replace":
            return f"kind_isendrecv({head}, a2, a3, a4, a6, a8);"
        case "start":
            return f"kind_start({head}, 1, a1, {fortran_text});"
        case "startall":
            return f"kind_start({head}, a1, a2, {fortran_text});"
        case "complete":
            waits = "true" if function.name.startswith("Wait") else "false"
            done = ", ".join([*outcome(function, fortran), status])
            looked = f"awaited, {completes(function)[1]}"
            return f"kind_complete({head}, (struct outcome){{{done}}}, {fortran_text}, {waits}, {looked});"
        case "request_free":
            return f"kind_freed({head});"
        case "cancel":
            return f"kind_cancelled({head});"
        case "timed" if function.ends:
            return f"kind_ended({head});"
        case "timed" | "timed_buffer":
            comm = next(
                (n for n, p in zip(a, function.parameters, strict=False) if p.type == "MPI_Comm"), "MPI_COMM_NULL"
            )
            return f"kind_timed({head}, {comm});"
        case "create":
            made = a[[p.type for p in function.parameters].index("MPI_Comm *")]
            return f"kind_create({head}, {function.argument('MPI_Comm')}, *{made});"
        case "put":
            return f"kind_one_sided({head}, a4, args_bytes(a2, a3), 0);"
        case "get":
            return f"kind_one_sided({head}, a4, 0, args_bytes(a2, a3));"
        case "get_accumulate":
            return f"kind_one_sided({head}, a7, a11 == MPI_NO_OP ? 0 : args_bytes(a2, a3), args_bytes(a5, a6));"
        case "fetch_and_op":
            return f"kind_one_sided({head}, a4, a6 == MPI_NO_OP ? 0 : args_bytes(1, a3), args_bytes(1, a3));"
        case "compare_and_swap":
            return f"kind_one_sided({head}, a5, args_bytes(1, a4), args_bytes(1, a4));"
        case "write" | "read":
            type_at = function.position("MPI_Datatype")
            return f"kind_{function.kind}({head}, {a[type_at - 1]}, {a[type_at]});"
    sys.exit(f"functions.txt: {function.kind} is not a kind")


def outcome(function: Function, fortran: bool) -> tuple[str, str]:
    """How many requests a call completed, and their places."""

    def value(name: str) -> str:
        return f"fortran_int({name})" if fortran else f"*{name}"

    match function.name:
        case "Wait":
            return "1", "NULL"
        case "Waitall":
            return "a1", "NULL"
        case "Waitany":
            return f"{value('a3')} != MPI_UNDEFINED", "a3"
        case "Test":
            return f"{value('a2')} != 0", "NULL"
        case "Testall":
            return f"{value('a3')} != 0 ? a1 : 0", "NULL"
        case "Testany":
            return f"{value('a4')} != 0 && {value('a3')} != MPI_UNDEFINED", "a3"
    return value("a3"), "a4"  # Waitsome, Testsome; less than 0: MPI_UNDEFINED


def takes_status(function: Function) -> bool:
    return function.kind in ("recv", "mrecv", "sendrecv", "sendrecv_replace")


def begin(function: Function, comm: str) -> str:
    if function.kind == "collective" and not function.nonblocking and not function.persistent:
        return f"record_begin_together(span, {comm})"
    return "record_begin(span)"


def wrapper(function: Function) -> str:
    names = function.names
    declared = function.declared
    before, passed, recorded = "", list(names), "status"
    if takes_status(function):
        before = f"    MPI_Status own, *arrived = {names[-1]} != MPI_STATUS_IGNORE ? {names[-1]} : &own;\n"
        passed[-1] = recorded = "arrived"
    aside, failed = f"return {{}}({', '.join(names)});", ""
    if function.kind == "complete":
        requests = ", ".join(completes(function))
        looked = f"uint16_t awaited = completion_look({requests}, false);\n"
        failed = f"        completion_unseen(awaited, {completes(function)[1]}, false);\n"
        given = ", ".join(names)
        aside = f"return completion_open() ? aside_{function.name}({given}) : {{}}({given});"
        before = f"    {looked}    message_look({requests}, false);\n"
        before += f"    MPI_Status *arrived = message_statuses({names[-1]});\n"
        passed[-1] = recorded = "arrived"
    if function.kind in ("request_free", "cancel"):
        before = "    message_look(1, a1, false);\n"
    always = "    request_remove(*a1);\n    completion_forget(*a1);\n" if function.kind == "request_free" else ""
    comm = function.argument("MPI_Comm") if function.kind == "collective" else ""
    real, ways = f"REAL({function.name})", ""
    if function.served:
        real, ways = f"on_{function.name}", on(function)
        always = f"""    if (!(record_active[F_{function.name}] | dispatch_active))
        return REAL({function.name})({", ".join(names)});
"""
    if function.passes:
        real = f"on_{function.name}"
        ways = f"int on_{function.name}({declared});\n{on_passing(function)}"
    if function.kind == "complete":
        ways += on_aside(function)
    return f"""{ways}
int here_{function.name}({declared})
{{
{always}    if (!record_active[F_{function.name}] || !record_enter())
        {aside.format(real)}
{before}    struct span begun, *span = &begun;
    {begin(function, comm)};
    int status = {real}({", ".join(passed)});
    record_end(span);
    if (status != MPI_SUCCESS) {{
        kind_failed(F_{function.name}, span);
{failed}    }} else {{
    {record(function, recorded, False)}
    }}
    record_leave();
    return status;
}}
{entry(function)}"""


def entry(function: Function) -> str:
    """What the program calls."""
    declared, passed = function.declared, function.passed
    return f"""
SYMBOL int MPI_{function.name}({declared})
{{
    if (__builtin_expect(tools_behind, false) && tools_next[F_{function.name}] != NULL)
        return ((int (*)({declared}))tools_next[F_{function.name}])({passed});
    return here_{function.name}({passed});
}}
"""


def below(function: Function) -> str:
    """What other tools call, and what this library calls itself."""
    declared, passed = function.declared, function.passed
    real = plain = f"((int (*)({declared}))tools_real_of(F_{function.name}))({passed})"
    on = ""
    if function.passes:
        on = f"int on_{function.name}({declared});\n"
        plain = f"on_{function.name}({passed})"
    return f"""
int here_{function.name}({declared});
{on}int __wrap_PMPI_{function.name}({declared});

int __wrap_PMPI_{function.name}({declared})
{{
    return {real};
}}

SYMBOL int PMPI_{function.name}({declared})
{{
    return __builtin_expect(dispatch_below, false) ? here_{function.name}({passed}) : {plain};
}}
"""
