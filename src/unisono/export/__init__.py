"""A tuning in the forms an MPI reads, one writer a file, each with a reader."""

from unisono.export.files import FORMATS, OURS, caveats, edited, export, exportable, formats

__all__ = ["FORMATS", "OURS", "caveats", "edited", "export", "exportable", "formats"]
