"""Commands that read profiles: show, import, export."""

from __future__ import annotations

from pathlib import Path

from unisono.commands.console import err, out, print_json
from unisono.core.errors import UserError
from unisono.core.language import _, translated


def show(path: Path, *, json: bool, hot: int) -> int:
    """A profile, of Unisono or of any tool that can be imported, as tables."""
    from unisono.profile.document import as_dict
    from unisono.profile.importers import import_profile
    from unisono.profile.show import show as render

    if hot < 1:
        raise UserError(_("--hot {hot}: how many hot spots to show, 1 or more").format(hot=hot))
    profile = import_profile(path)
    if json:
        print_json(as_dict(profile))
        return 0
    console = out()
    console.print(render(profile, hot=hot, width=console.width))
    return 0


def import_(path: Path, output: Path | None) -> int:
    """Another tool's profile as a profile of Unisono."""
    from unisono.profile.file import EXTENSION, save
    from unisono.profile.importers import import_profile, title_of

    profile = import_profile(path)
    target = output or Path(title_of(path) + EXTENSION)
    save(profile, target)
    console = err()
    for note in profile.notes:
        console.print(_("Note: {note}").format(note=translated(note)), markup=False)
    console.print(
        _("Profile: {path} ({ranks} ranks, {rows} rows)").format(
            path=target, ranks=profile.ranks, rows=f"{len(profile.cells):,}"
        ),
        markup=False,
    )
    return 0


def export(path: Path, *, format: str, output: Path | None) -> int:
    """A profile as a file of another tool."""
    from unisono.profile.exporters import EXTENSIONS, export_profile
    from unisono.profile.importers import import_profile, title_of

    if format not in EXTENSIONS:
        raise UserError(_("--format {format}: give {formats}").format(format=format, formats=", ".join(EXTENSIONS)))
    profile = import_profile(path)
    target = output or Path(title_of(path) + EXTENSIONS[format])
    if target.exists() and target.samefile(path):
        raise UserError(_("{target}: is the profile itself; give another file with -o").format(target=target))
    lost = export_profile(profile, target, format)
    console = err()
    for sentence in lost:
        console.print(_("Note: {note}").format(note=translated(sentence)), markup=False)
    console.print(_("Written: {target}").format(target=target), markup=False)
    return 0
