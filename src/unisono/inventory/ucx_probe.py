"""Ask a UCX library about itself: a program of its own, because a foreign library may crash or hang.

    python ucx_probe.py /path/to/libucp.so.0 resources|config

prints the version as `ucx_info -v` does, then the resources of a context ("resource 1 : ... -- tcp/eth0") or every
configuration variable ("UCX_RNDV_THRESH=auto"). Uses nothing but the standard library. Functions and structures are
those of UCX's public header ucp/api/ucp.h (stable since 1.0); the list of all variables comes from libucs, whose
signature is the same from 1.9 to 1.20.
"""

from __future__ import annotations

import ctypes
import os
import sys

FEATURES_FIELD = 1
TAG = 1
PRINT_CONFIG = 1


class Parameters(ctypes.Structure):
    """The head of ucp_params_t; the rest is read only when its bit is in field_mask."""

    _fields_ = (
        ("field_mask", ctypes.c_uint64),
        ("features", ctypes.c_uint64),
        ("rest", ctypes.c_uint64 * 16),
    )


def main(library: str, what: str) -> int:
    for name in [name for name in os.environ if name.startswith("UCX_")]:
        del os.environ[name]  # what exists, not what the user has restricted it to
    os.environ["UCX_LOG_LEVEL"] = "fatal"
    os.environ["UCX_WARN_UNUSED_ENV_VARS"] = "n"
    ucp = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    libc = ctypes.CDLL(None)
    libc.fdopen.restype = ctypes.c_void_p
    libc.fdopen.argtypes = (ctypes.c_int, ctypes.c_char_p)
    libc.fflush.argtypes = (ctypes.c_void_p,)
    out = libc.fdopen(1, b"w")
    ucp.ucp_get_version_string.restype = ctypes.c_char_p
    sys.stdout.write(f"# Library version: {ucp.ucp_get_version_string().decode()}\n")
    sys.stdout.flush()
    numbers = [ctypes.c_uint() for _ in range(3)]
    ucp.ucp_get_version(*(ctypes.byref(number) for number in numbers))
    config = ctypes.c_void_p()
    if ucp.ucp_config_read(None, None, ctypes.byref(config)) != 0:
        sys.stderr.write("ucp_config_read failed\n")
        return 1
    context = ctypes.c_void_p()
    parameters = Parameters(field_mask=FEATURES_FIELD, features=TAG)
    status = ucp.ucp_init_version(numbers[0], numbers[1], ctypes.byref(parameters), config, ctypes.byref(context))
    if status != 0:
        sys.stderr.write(f"ucp_init failed with status {status}\n")
        return 1
    if what == "config":
        # only now: making a context has loaded the transports, each with variables of its own
        ucs = ctypes.CDLL("libucs.so.0")  # already loaded as a dependency of libucp: the same one
        variables = ctypes.c_void_p.in_dll(ucs, "ucs_config_global_list")
        ucs.ucs_config_parser_print_all_opts(ctypes.c_void_p(out), b"UCX_", PRINT_CONFIG, ctypes.byref(variables), None)
    else:
        ucp.ucp_context_print_info(context, ctypes.c_void_p(out))
    libc.fflush(out)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
