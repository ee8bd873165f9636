"""Signals that whoever started the tests ignores: the programs that tests start get them as a shell gives them."""

from __future__ import annotations

import signal

NEEDED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
"""Not SIGHUP: `nohup make test` is to go on when the terminal goes, with the programs it has started."""


def receive_ignored_signals() -> None:
    """Ends the inheritance by programs started from here on, while this process goes on doing nothing about them.

    `nohup`, cron and the `&` of a script ignore SIGINT, and an ignored signal stays ignored through exec. A signal with
    a handler does not.
    """
    for number in NEEDED:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:  # the status of children would be lost
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {*NEEDED, signal.SIGCHLD})
