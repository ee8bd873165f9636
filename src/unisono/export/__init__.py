"""A tuning in the forms an MPI reads, one writer a file, each with a reader."""

from unisono.export.files import FORMATS, caveats, edited, export

__all__ = ["FORMATS", "caveats", "edited", "export"]
