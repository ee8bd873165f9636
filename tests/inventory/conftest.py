"""The machines of tests/machine, whose software is described here."""

from tests.machine.conftest import epyc_nps4, xeon

__all__ = ["epyc_nps4", "xeon"]
