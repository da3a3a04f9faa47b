"""The commands `backup`, `backups` and `restore`."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from engine.cli.options import ProjectPath, command_group, open_project
from engine.cli.output import is_interactive, job, print_result
from engine.errors import InputError, ProjectMissingError, UsageError
from engine.files import size_text
from engine.texts import counted

if TYPE_CHECKING:
    from engine.project.backups.contents import Changes, Contents
    from engine.project.backups.listing import Backup, Offer

_HEAD = (
    f"{'':>3}  {'made':<20}{'reason':<32}{'classes':>9}{'images':>9}{'labels':>9}{'size':>11}  "
    "changed since"
)
application = command_group("A project's backups: list them, or choose where they are kept.")


def backup(
    project: ProjectPath,
    to: Annotated[
        Path | None,
        Option(
            "--to",
            metavar="FOLDER",
            help="Write it to this folder instead; such a backup is never deleted.",
        ),
    ] = None,
) -> None:
    """Make a verified backup now; the project may be open in the window."""
    from engine.project.backups.keeping import back_up

    with job("Backing up", "run it again; nothing was written") as running:
        made = back_up(
            _real(project),
            None if to is None else to.absolute(),
            **running,
        )
    classes, images = counted(made.classes, "class", "classes"), counted(made.images, "image")
    text = f"Backed up {classes}, {images} and {counted(made.labels, 'label')} to {made.path}."
    print_result(text, _fields(made, None))


@application.command("list")
def list_backups(
    project: ProjectPath,
    *,
    other: Annotated[
        bool,
        Option("--other", help="Also list backups of other projects of this name, after its own."),
    ] = False,
) -> None:
    """List a project's backups, newest first, with what changed since each."""
    from engine.project.backups.index import note_list

    present = _present(project)
    offer = _offer(project)
    shown = _shown(offer, is_other_wanted=other)
    changes = [_changes_since(each, present) if each in offer.own else None for each in shown]
    note_list(project, [each.path for each in shown])
    print_result(
        "\n".join(_lines(project, offer, shown, changes)),
        {
            "project_id": offer.project_id,
            "backups": [
                _fields(each, since, offer) for each, since in zip(shown, changes, strict=True)
            ],
        },
    )


@application.command(
    "folder",
    help="Show the folder of a project's backups, or choose another one; existing "
    "backups are not moved.",
)
def folder(
    project: ProjectPath,
    folder: Annotated[
        Path | None, Argument(metavar="FOLDER", help="Keep backups there from now on.")
    ] = None,
    usual: Annotated[bool, Option("--usual", help="Use the default folder again.")] = False,
) -> None:
    """Show or change the folder of backups."""
    from engine.project.backups.place import choose_folder, folder_for

    if folder is not None and usual:
        raise UsageError("FOLDER and --usual exclude each other", remedy="give one of them")
    with open_project(project, for_writing=False) as opened:
        project_id = opened.backups.project_id
    if folder is not None or usual:
        choose_folder(project_id, folder)
    where = folder_for(_real(project), project_id)
    print_result(f"Backups of {project} go to {where}.", {"folder": str(where)})


def restore(
    project: ProjectPath,
    backup: Annotated[
        str,
        Argument(metavar="BACKUP", help="A file, or a number or time shown by `backups list`."),
    ],
    *,
    yes: Annotated[bool, Option("--yes", help="Do not ask.")] = False,
    other: Annotated[bool, Option("--other", help="Allow a backup of another project.")] = False,
) -> None:
    """Restore a backup."""
    from engine.project.backups.listing import backup_at, description
    from engine.project.backups.restoring import restore as run
    from engine.project.clock import present_time

    path, is_sure = _chosen(project, backup, is_other_wanted=other)
    if not yes and is_interactive():
        typer.echo(
            f"{description(backup_at(path))}\nThe project as it is now is backed up first.",
            err=True,
        )
        if not typer.confirm(f"Restore {project} to this backup?", err=True):
            print_result("Nothing was changed.", {"restored": False})
            return
        is_sure = True
    with job("Restoring", "run it again; the project is as it was") as running:
        done = run(
            _real(project),
            path,
            is_other_allowed=other,
            is_doubt_allowed=is_sure,
            when=present_time(),
            **running,
        )
    kept = (
        f"as it was before, it is kept in {done.kept}" if done.kept else "there was no file before"
    )
    print_result(
        f"{project} is restored from {path}; {kept}.",
        {
            "restored": True,
            "backup": str(path),
            "kept": str(done.kept) if done.kept else None,
            "was_damaged": done.was_damaged,
        },
    )


def _chosen(project: Path, text: str, *, is_other_wanted: bool) -> tuple[Path, bool]:
    """The selected backup, and whether it was given as a file, which is never ambiguous.

    Otherwise it is given by its number in the list, or by its time.
    """
    path = Path(text)
    if path.is_file():
        return path.absolute(), True
    if any(letter in text for letter in "/\\"):
        raise ProjectMissingError(
            "there is no such backup", found=text, remedy="check the name of the file"
        )
    offer = _offer(project)
    found = _shown(offer, is_other_wanted=is_other_wanted)
    if text.isdecimal():
        fitting = _numbered(project, int(text), offer, found)
    else:
        fitting = [each for each in found if _time(each).startswith(text.strip().replace("T", " "))]
    if len(fitting) == 1:
        return fitting[0].path, False
    raise InputError(
        "several backups match" if fitting else "there is no such backup",
        expected="a file, 1 to {count}, or a time such as {time}" if found else "a file",
        found=text,
        remedy="see protoleaf backups list {project}",
        project=project,
        count=len(found),
        time=_time(found[0]) if found else "",
    )


def _numbered(
    project: Path, number: int, offer: "Offer", found: "Sequence[Backup]"
) -> "list[Backup]":
    """The backup with a number, which must be the same as in the list that was shown last."""
    from engine.project.backups.index import backup_key, shown_list

    shown = shown_list(project)
    rows = found if shown is None else offer.all[: max(len(shown), len(found))]
    fitting = [rows[number - 1]] if 0 < number <= len(rows) else []
    before = (shown or ())[number - 1 : number] if number else ()
    if (
        shown is None
        or not (fitting or before)
        or [backup_key(each.path) for each in fitting] == list(before)
    ):
        return fitting
    raise InputError(
        "the list of backups has changed since it was shown",
        expected="number {number} to be {backup}" if before else "1 to {count}",
        found=fitting[0].path.name if fitting else str(number),
        remedy="see protoleaf backups list {project}, or give the time of the backup",
        project=project,
        number=number,
        backup=before[0] if before else "",
        count=len(shown),
    )


def _offer(project: Path) -> "Offer":
    from engine.project.backups.listing import offer_for

    whole = _real(project)
    offer = offer_for(whole, is_verified=True)
    if not offer.all and not whole.exists():
        raise ProjectMissingError(
            "there is neither a project file nor a backup of it", found=str(project)
        )
    return offer


def _shown(offer: "Offer", *, is_other_wanted: bool) -> "tuple[Backup, ...]":
    """Own backups; also those of other projects on request, or if the project is not known."""
    return offer.all if is_other_wanted or offer.project_id is None else offer.own


def _present(project: Path) -> "Contents | None":
    """Current contents of the project; None if it cannot be opened."""
    from engine.errors import ProtoleafError

    try:
        with open_project(project, for_writing=False) as opened:
            return opened.contents()
    except ProtoleafError:
        return None


def _changes_since(backup: "Backup", present: "Contents | None") -> "Changes | None":
    from engine.project.backups.contents import changes_between, contents_of_backup

    if present is None or backup.fault:
        return None
    return changes_between(contents_of_backup(backup.path), present)


def _lines(
    project: Path, offer: "Offer", shown: "Sequence[Backup]", changes: "Sequence[Changes | None]"
) -> Iterator[str]:
    if offer.own or not offer.others:
        yield _HEAD if shown else f"There are no backups of {project} yet."
    elif offer.project_id is not None:
        yield f"There are no backups of {project} yet."
    else:
        yield (
            f"{project} no longer identifies its project. These backups are of projects with its "
            "name:"
        )
    before = ""
    for number, (backup, since) in enumerate(zip(shown, changes, strict=True), 1):
        origin = _origin(backup, offer)
        if origin != before:
            yield f"\n{origin}\n{_HEAD}"
            before = origin
        yield _row(number, backup, since)
    if not shown and offer.others:
        yield (
            f"Other projects with its name have {len(offer.others):,}: protoleaf backups "
            f"list {project} --other"
        )
    elif shown:
        flag = "" if offer.own else " --other"
        yield f"Restore one with: protoleaf restore {project} NUMBER{flag}"


def _origin(backup: "Backup", offer: "Offer") -> str:
    from engine.project.backups.listing import owner_of

    if backup in offer.own:
        return f"Of the copy {backup.taken_of}:" if backup.is_of_copy else ""
    whose = "Of another project" if offer.project_id is not None else "Of a project"
    paths = sorted(
        {
            str(each.taken_of)
            for each in offer.others
            if owner_of(each) == owner_of(backup) and each.taken_of
        }
    )
    return (
        f"{whose}, {owner_of(backup)}, taken of {', '.join(paths) or 'a file that is not known'}:"
    )


def _row(number: int, backup: "Backup", since: "Changes | None") -> str:
    start = f"{number:>3}  {_time(backup):<20}{backup.reason.value:<32}"
    if backup.fault:
        return f"{start}damaged: {backup.fault}"
    counts = f"{backup.classes:>9,}{backup.images:>9,}{backup.labels:>9,}"
    counts += f"{size_text(backup.size_bytes):>11}"
    ahead = "; dated in the future, a clock was wrong" if _is_ahead(backup) else ""
    return f"{start}{counts}  {_since_text(since)}{ahead}"


def _is_ahead(backup: "Backup") -> bool:
    from engine.project.clock import present_time

    return backup.is_dated_ahead(present_time())


def _since_text(since: "Changes | None") -> str:
    if since is None:
        return "-"
    labels = since.labels_added + since.labels_changed + since.labels_removed
    classes = since.classes_added + since.classes_changed + since.classes_removed
    images = since.images_added + since.images_removed
    notes = since.notes_added + since.notes_changed + since.notes_removed
    parts = [
        counted(labels, "label") if labels else "",
        counted(classes, "class", "classes") if classes else "",
        counted(images, "image") if images else "",
        counted(notes, "note") if notes else "",
        f"in {counted(since.steps, 'action')}" if since.steps else "",
        f"{counted(since.steps_undone, 'action')} undone" if since.steps_undone else "",
    ]
    return ", ".join(filter(None, parts)) or "nothing"


def _time(backup: "Backup") -> str:
    return f"{backup.when:%Y-%m-%d %H:%M:%S}"


def _fields(
    backup: "Backup", since: "Changes | None", offer: "Offer | None" = None
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "path": str(backup.path),
        "when": backup.when.isoformat(),
        "reason": backup.reason.value,
        "classes": backup.classes,
        "images": backup.images,
        "labels": backup.labels,
        "size_bytes": backup.size_bytes,
        "generation": backup.generation,
        "fault": backup.fault or None,
        "project_id": backup.project_id or None,
        "taken_of": str(backup.taken_of) if backup.taken_of else None,
        "is_dated_in_future": _is_ahead(backup),
    }
    if offer is not None:
        fields["is_own"] = None if offer.project_id is None else backup in offer.own
        fields["is_of_copy"] = backup.is_of_copy
    if since is not None:
        fields["changed_since"] = vars(since)
    return fields


def _real(project: Path) -> Path:
    """The path with links resolved; a link to itself stays, and is refused later."""
    return Path(os.path.realpath(project))
