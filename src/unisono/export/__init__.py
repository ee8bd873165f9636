"""A tuning in the forms an MPI reads, one writer a file, each with a reader."""

from unisono.export.files import OURS, caveats, edited, export, exportable, formats, offered, unsaid
from unisono.export.formats import FORMATS as _ALL

FORMATS = tuple(format.NAME for format in _ALL)

__all__ = ["FORMATS", "OURS", "caveats", "edited", "export", "exportable", "formats", "offered", "unsaid"]
