"""What goes wrong because of what was asked or where it runs, not because of us."""

from __future__ import annotations


class UserError(Exception):
    """Bad input or an environment that cannot do what was asked: one clear line, exit status 2.

    The message says what was wrong, where, and what to do about it. `details` are lines of another program, such as a
    compiler, which only `unisono --verbose` prints.
    """

    def __init__(self, message: str = "", details: str = "") -> None:
        super().__init__(message)
        self.details = details


class LaunchError(Exception):
    """A launch that did not deliver: the study records `status` and `reason` and goes on.

    `status` is one of "refused" (mpirun or MPI_Init declined), "crashed", "hung" (killed at its deadline),
    "wrong placement" or "protocol" (the benchmark said something that is not its protocol).
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason
        self.stderr = ""
        """What the launch wrote to standard error, where somebody kept it."""
