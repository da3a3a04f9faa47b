"""Commands that make backups, list them, and go back to one."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli.command_group import command_group
from engine.cli.graph_commands import ProjectPath
from engine.cli.output import AsJson, counted, say
from engine.errors import InputError, ProjectMissingError, UsageError
from engine.files import size_text

if TYPE_CHECKING:
    from engine.project.backups.contents import Changes, Contents
    from engine.project.backups.listing import Backup

application = command_group("A project's backups: list them, or choose where they are kept.")


def backup(
    project: ProjectPath,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FOLDER", help="Write it to this folder instead; it is never deleted."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a verified backup now; the project may be open in the window."""
    from engine.project.backups.keeping import back_up

    made = back_up(project.resolve(), None if to is None else to.absolute())
    say(
        f"Backed up {_contents_text(made)} to {made.path}.",
        _fields(made, None),
        as_json=as_json,
    )


@application.command("list")
def list_backups(project: ProjectPath, as_json: AsJson = False) -> None:
    """List a project's backups, newest first, with what changed since each."""
    found = _backups(project)
    present = _present(project)
    changes = [_changes_since(each, present) for each in found]
    rows = [_row(number, each, since) for number, (each, since) in enumerate(zip(found, changes, strict=True), 1)]
    head = f"{'':>3}  {'made':<20}{'reason':<32}{'classes':>9}{'images':>9}{'labels':>9}{'size':>11}  changed since"
    hint = f"Go back to one with: protoleaf restore {project} NUMBER"
    say(
        "\n".join([head, *rows, hint]) if rows else f"There are no backups of {project} yet.",
        {"backups": [_fields(each, since) for each, since in zip(found, changes, strict=True)]},
        as_json=as_json,
    )


@application.command("folder")
def folder(
    project: ProjectPath,
    folder: Annotated[Path | None, typer.Argument(metavar="FOLDER", help="Keep backups there from now on.")] = None,
    usual: Annotated[bool, typer.Option("--usual", help="Keep them in the default folder again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show where a project's backups are kept, or choose another folder; existing backups stay where they are."""
    from engine.project import Project
    from engine.project.backups.place import choose_folder, folder_for

    if folder is not None and usual:
        raise UsageError("FOLDER and --usual exclude each other", remedy="give one of them")
    with Project.open(project, for_writing=False) as opened:
        project_id = opened.backups.project_id
    if folder is not None or usual:
        choose_folder(project_id, folder)
    where = folder_for(project.resolve(), project_id)
    say(f"Backups of {project} go to {where}.", {"folder": str(where)}, as_json=as_json)


def restore(
    project: ProjectPath,
    backup: Annotated[
        str, typer.Argument(metavar="BACKUP", help="A file, or a number or time that `backups list` shows.")
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    other: Annotated[bool, typer.Option("--other", help="Allow a backup of another project.")] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup; the project as it is now is backed up first. Asks when run in a terminal."""
    from engine.project.backups.restoring import restore as run
    from engine.project.clock import present_time

    path = _chosen(project, backup)
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        typer.echo(f"{path}\nThe project as it is now is backed up first.", err=True)
        if not typer.confirm(f"Make {project} what it was in this backup?", err=True):
            say("Nothing was changed.", {"restored": False}, as_json=as_json)
            return
    done = run(project.resolve(), path, is_other_allowed=other, when=present_time())
    kept = f"as it was before, it is kept in {done.kept}" if done.kept else "there was no file before"
    say(
        f"{project} is restored from {path}; {kept}.",
        {
            "restored": True, "backup": str(path), "kept": str(done.kept) if done.kept else None,
            "was_damaged": done.was_damaged,
        },
        as_json=as_json,
    )  # fmt: skip


def _chosen(project: Path, text: str) -> Path:
    """The backup that a person means: a file, a number of the list, or the time of exactly one."""
    path = Path(text)
    if path.is_file():
        return path.absolute()
    if any(letter in text for letter in "/\\"):
        raise ProjectMissingError("there is no such backup", found=text, remedy="check the name of the file")
    found = _backups(project)
    if text.isdecimal():
        fitting = [found[int(text) - 1]] if 0 < int(text) <= len(found) else []
    else:
        fitting = [each for each in found if _time(each).startswith(text.strip().replace("T", " "))]
    if len(fitting) == 1:
        return fitting[0].path
    raise InputError(
        "several backups are meant" if fitting else "there is no such backup",
        expected=f"a file, 1 to {len(found)}, or a time such as {_time(found[0])}" if found else "a file",
        found=text,
        remedy=f"see protoleaf backups list {project}",
    )


def _backups(project: Path) -> "list[Backup]":
    from engine.project.backups.listing import backups_of, project_id_of

    whole = project.resolve()
    found = backups_of(whole, project_id_of(whole), is_verified=True)
    if not found and not whole.exists():
        raise ProjectMissingError("there is neither a project file nor a backup of it", found=str(project))
    return found


def _present(project: Path) -> "Contents | None":
    """What the project holds now; None where it cannot be opened, which is when backups are needed most."""
    from engine.errors import ProtoleafError
    from engine.project import Project

    try:
        with Project.open(project, for_writing=False) as opened:
            return opened.contents()
    except ProtoleafError:
        return None


def _changes_since(backup: "Backup", present: "Contents | None") -> "Changes | None":
    from engine.project.backups.contents import changes_between, contents_of_backup

    if present is None or backup.fault:
        return None
    return changes_between(contents_of_backup(backup.path), present)


def _row(number: int, backup: "Backup", since: "Changes | None") -> str:
    start = f"{number:>3}  {_time(backup):<20}{backup.reason.value:<32}"
    if backup.fault:
        return f"{start}damaged: {backup.fault}"
    counts = f"{backup.classes:>9,}{backup.images:>9,}{backup.labels:>9,}{size_text(backup.size_bytes):>11}"
    return f"{start}{counts}  {_since_text(since)}"


def _since_text(since: "Changes | None") -> str:
    if since is None:
        return "-"
    labels = since.labels_added + since.labels_changed + since.labels_removed
    classes = since.classes_added + since.classes_changed + since.classes_removed
    images = since.images_added + since.images_removed
    parts = [
        counted(labels, "label") if labels else "",
        counted(classes, "class", "classes") if classes else "",
        counted(images, "image") if images else "",
        f"in {counted(since.steps, 'action')}" if since.steps else "",
        f"{counted(since.steps_undone, 'action')} undone" if since.steps_undone else "",
    ]
    return ", ".join(filter(None, parts)) or "nothing"


def _contents_text(backup: "Backup") -> str:
    classes, images = counted(backup.classes, "class", "classes"), counted(backup.images, "image")
    return f"{classes}, {images} and {counted(backup.labels, 'label')}"


def _time(backup: "Backup") -> str:
    return f"{backup.when:%Y-%m-%d %H:%M:%S}"


def _fields(backup: "Backup", since: "Changes | None") -> dict[str, Any]:
    fields: dict[str, Any] = {
        "path": str(backup.path), "when": backup.when.isoformat(), "reason": backup.reason.value,
        "classes": backup.classes, "images": backup.images, "labels": backup.labels,
        "size_bytes": backup.size_bytes, "generation": backup.generation, "fault": backup.fault or None,
    }  # fmt: skip
    if since is not None:
        fields["changed_since"] = {key: _jsonable(value) for key, value in vars(since).items()}
    return fields


def _jsonable(value: object) -> object:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def register(application: typer.Typer) -> None:
    """Add these commands to the program."""
    application.command("backup")(backup)
    application.command("restore")(restore)
