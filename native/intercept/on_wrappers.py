"""Where a call goes on that dispatch may serve, or has to see: the functions on_X of the C symbols."""

from __future__ import annotations

from mpi_h import Function


def completes(function: Function) -> tuple[str, str]:
    """How many requests, and where they are, of a function that completes them."""
    return ("1", "a1") if function.name in ("Wait", "Test") else ("a1", "a2")


def dispatched(function: Function, fortran: bool = False) -> str:
    """The call of dispatch.h's function; arguments as C has them, the communicator is `used`."""
    a, parameters = function.names, function.parameters
    comm = function.argument("MPI_Comm")
    words = ["&used" if word == comm else word for word in vectors(function, fortran)]
    buffers = [name for name, p in zip(a, parameters, strict=True) if p.type in ("void *", "const void *")]
    called = f"dispatch_{function.rule}"
    if buffers:
        called = f"(device_is({buffers[0]}, {buffers[-1]}) ? device_{function.rule} : {called})"
    return f"{called}({', '.join([*words, '&status'])})"


def vectors(function: Function, fortran: bool = False) -> list[str]:
    """The arguments as dispatch.h's functions take them: those with an entry for each rank together."""
    a, parameters = function.names, function.parameters
    is_large = function.name.endswith("_c")
    words = []
    for i, parameter in enumerate(parameters):
        if parameter.array:  # counts, followed by displacements, but in Reduce_scatter; and by types in those with a w
            places = a[i + 1] if parameters[i + 1].array else "NULL"
            is_far = parameters[i + 1].type == "const MPI_Aint"  # of Neighbor_alltoallw with counts of either width
            vector = "dispatch_vector" + ("_c" if is_large else "_far" if is_far else "")
            word = f"{vector}({a[i]}, {places})"
            if parameters[i + 1].array and parameters[i + 2].array:
                word = f"dispatch_typed({word}, {a[i + 2]}, {'true' if fortran else 'false'})"
            words += [word] if not parameters[i - 1].array else []
        else:
            words.append(a[i])
    return words


def on(function: Function) -> str:
    """Where a call goes on that may be served: the function on_NAME."""
    declared = function.declared
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


def on_posted(function: Function) -> str:
    """The same of a nonblocking call, which the MPI library may have to serve by another algorithm of its own."""
    declared, passed = function.declared, function.passed
    given, name = ", ".join(vectors(function)), function.name.removesuffix("_c")
    return f"""
int on_{function.name}({declared})
{{
    int status = MPI_SUCCESS;
    if (dispatch_begins[COLL_{name.upper()}] && dispatch_{name.lower()}({given}, &status))
        return status;
    status = REAL({function.name})({passed});
    if (__builtin_expect(dispatch_held, false))
        dispatch_release();
    return status;
}}
"""


def on_kept(function: Function) -> str:
    """The same of a persistent one: the MPI library makes its request in any case."""
    declared, passed, request = function.declared, function.passed, function.names[-1]
    info = function.argument("MPI_Info")
    given = ", ".join([*(word for word in vectors(function)[:-1] if word != info), f"*{request}"])
    before = f"""
    if (dispatch_posts)
        dispatch_before_init({", ".join(function.before_made)});"""
    after = """
    if (__builtin_expect(dispatch_held, false))
        dispatch_release();"""
    if not function.before_made:
        before = after = ""
    return f"""
int on_{function.name}({declared})
{{{before}
    int status = REAL({function.name})({passed});{after}
    if (dispatch_posts && status == MPI_SUCCESS)
        dispatch_{function.name.removesuffix("_c").lower()}({given});
    return status;
}}
"""


def on_handle(function: Function) -> str:
    """What starts requests, or frees one, those of persistent collectives that dispatch serves among them."""
    declared, passed = function.declared, function.passed
    body = {
        "start": """int status = MPI_SUCCESS;
    if (__builtin_expect(dispatch_known > 0, false) && dispatch_again(*a1, &status))
        return status;""",
        "startall": """for (int i = 0; dispatch_known > 0 && i < a1; i++) {
        int status = MPI_SUCCESS;
        if (!dispatch_again(a2[i], &status))
            status = REAL(Start)(&a2[i]);
        if (status != MPI_SUCCESS || i == a1 - 1)
            return status;
    }""",
        "request_free": """if (__builtin_expect(dispatch_known > 0, false))
        dispatch_forget(*a1);""",
    }[function.kind]
    return f"""
int on_{function.name}({declared})
{{
    {body}
    return REAL({function.name})({passed});
}}
"""


def on_complete(function: Function) -> str:
    """A function that completes requests: those of nonblocking calls that dispatch serves are moved on."""
    declared, passed = function.declared, function.passed
    match function.name:
        case "Wait" | "Waitall":
            before = f"dispatch_await_all({', '.join(completes(function))});"
        case "Waitany":
            before = """for (unsigned turn = 0; dispatch_turn(a1, a2, &turn);) {
            int done = 0, status = REAL(Testany)(a1, a2, a3, &done, a4);
            if (status != MPI_SUCCESS || done)
                return status;
        }"""
        case "Waitsome":
            before = """for (unsigned turn = 0; dispatch_turn(a1, a2, &turn);) {
            int status = REAL(Testsome)(a1, a2, a3, a4, a5);
            if (status != MPI_SUCCESS || *a3 != 0)
                return status;
        }"""
        case _:
            before = "dispatch_move();"
    return f"""
static int moved_{function.name}({declared})
{{
    if (__builtin_expect(dispatch_under_way > 0, false)) {{
        {before}
    }}
    return REAL({function.name})({passed});
}}

int on_{function.name}({declared})
{{
    if (__builtin_expect(dispatch_kept > 0, false))
        return dispatch_kept_{function.name.lower()}({passed}, moved_{function.name});
    return moved_{function.name}({passed});
}}
"""


def on_aside(function: Function) -> str:
    """Where it is not recorded, but may complete what was."""
    count, requests = completes(function)
    return f"""
static __attribute__((noinline, cold)) int aside_{function.name}({function.declared})
{{
    uint16_t awaited = completion_look({count}, {requests}, false);
    int status = on_{function.name}({function.passed});
    completion_unseen(awaited, {requests}, false);
    return status;
}}
"""


def on_passing(function: Function) -> str:
    if function.posted:
        return on_posted(function)
    if function.kept:
        return on_kept(function)
    if function.ends:
        return on_end(function)
    return on_complete(function) if function.completes else on_handle(function)


def on_end(function: Function) -> str:
    """The same for what ends a communicator: callbacks for its attributes may communicate on it once more."""
    return f"""
int on_{function.name}(MPI_Comm *a1)
{{
    if (a1 != NULL)
        dispatch_ends(*a1);
    bool before = dispatch_aside(true);
    int status = REAL({function.name})(a1);
    dispatch_aside(before);
    return status;
}}
"""
