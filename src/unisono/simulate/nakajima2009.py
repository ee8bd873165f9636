"""What Nakajima (2009) says about processes x threads on T2K and Cray XT4, as far as its text has numbers.

K. Nakajima, T2K Open Supercomputer tuning lectures: evaluation of hybrid parallel programming models (II), 2009.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """A speed-up: 32 is flat MPI on 32 cores with all links."""

    cluster: str
    layout: str
    """Threads x processes of that machine's node: on XT4 what the document calls HB 4x4 is 4x1."""
    cores: int
    speed_up: float
    section: str
    threaded: bool | None = None
    """Who packs the halo: all threads, one, or None: the document saw no difference."""
    links: int | None = None
    """None: all."""
    fitted: bool = False
    """Numbers of unisono.simulate.clusters were chosen so that this comes out; all others are predictions."""


SPEED_UPS = (
    Said("t2k", "1x16", 32, 32.0, "4", fitted=True),
    Said("t2k", "4x4", 32, 31.3, "4", fitted=True),
    Said("t2k", "8x2", 32, 30.9, "4", fitted=True),
    Said("t2k", "16x1", 32, 30.7, "4", fitted=True),
    Said("t2k", "1x16", 1024, 882, "4", fitted=True),
    Said("t2k", "1x16", 1024, 965, "6", links=1, fitted=True),
    Said("t2k", "4x4", 1024, 1017, "4"),
    Said("t2k", "8x2", 1024, 899, "4", threaded=True),
    Said("t2k", "16x1", 1024, 837, "4", threaded=True),
    Said("t2k", "8x2", 1024, 997, "5", threaded=False),
    Said("t2k", "16x1", 1024, 919, "5", threaded=False, fitted=True),
    Said("xt4", "1x4", 32, 32.0, "4", fitted=True),
    Said("xt4", "4x1", 32, 31.9, "4", fitted=True),
    Said("xt4", "1x4", 1024, 888, "4", fitted=True),
    Said("xt4", "4x1", 1024, 1110, "4"),
)


def said(cluster: str, layout: str, cores: int, links: int | None, threaded: bool) -> Said | None:
    """`links`: None where all of the machine's are used."""
    for one in SPEED_UPS:
        where = (one.cluster, one.layout, one.cores, one.links)
        if where == (cluster, layout, cores, links) and one.threaded in (None, threaded):
            return one
    return None
