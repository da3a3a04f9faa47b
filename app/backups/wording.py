"""Texts about backups, localized."""

from app.backups.logic import Group
from app.texts import plural, tr
from app.wording import SEPARATOR, file_size, images, moment_text
from engine.project.backups.contents import Changes
from engine.project.backups.listing import Backup
from engine.project.backups.place import BackupReason
from engine.project.clock import present_time

TEXTS_SHOWN = 5


def reason_text(reason: BackupReason) -> str:  # noqa: PLR0911, C901 (one for each reason)
    match reason:
        case BackupReason.QUARTER_HOUR:
            return tr("Every 15 minutes")
        case BackupReason.DAY:
            return tr("Once a day")
        case BackupReason.ASKED:
            return tr("Manual")
        case BackupReason.MIGRATION:
            return tr("Before updating the file format")
        case BackupReason.MERGE:
            return tr("Before merging a class list")
        case BackupReason.IMPORT:
            return tr("Before importing labels")
        case BackupReason.PROJECT:
            return tr("Before merging another copy")
        case BackupReason.MODEL:
            return tr("Before changing the model")
        case BackupReason.REMOVAL:
            return tr("Before removing")
        case BackupReason.RESTORE:
            return tr("Before restoring")


def title(backup: Backup) -> str:
    return moment_text(backup.when)


def counts(backup: Backup) -> str:
    """`3 classes · 1,204 images · 88 labels`."""
    return SEPARATOR.join((classes(backup.classes), images(backup.images), labels(backup.labels)))


def since_line(changes: Changes) -> str:
    """`Since then: 12 labels, 1 class, in 13 actions`."""
    touched = (
        (labels, changes.labels_added + changes.labels_changed + changes.labels_removed),
        (classes, changes.classes_added + changes.classes_changed + changes.classes_removed),
        (images, changes.images_added + changes.images_removed),
        (notes, changes.notes_added + changes.notes_changed + changes.notes_removed),
    )
    parts = [words(count) for words, count in touched if count]
    if changes.steps:
        parts.append(actions(changes.steps))
    if changes.steps_undone:
        parts.append(tr("{1} undone", actions(changes.steps_undone)))
    if not parts:
        return tr("Same as now")
    return tr("Since then: {1}", SEPARATOR.join(parts))


def details(backup: Backup, changes: Changes | None) -> str:
    """Actions that restoring undoes, latest first, and the file size."""
    lines = []
    if changes is not None and changes.texts:
        lines.append(tr("Restoring undoes:"))
        lines += [f"• {text}" for text in changes.texts[:TEXTS_SHOWN]]
        rest = changes.steps - len(changes.texts[:TEXTS_SHOWN])
        if rest > 0:
            lines.append(tr("… and {1} before them", actions(rest)))
    lines.append(f"{backup.path.name}{SEPARATOR}{file_size(backup.size_bytes)}")
    return "\n".join(lines)


def question(backup: Backup) -> str:
    return tr("Restore the project as it was on {1}?", title(backup))


def doubt_details(backup: Backup) -> str:
    """Contents, date and path of a backup, to identify its project."""
    lines = [counts(backup), tr("Made {1}", title(backup))]
    if backup.taken_of is not None:
        lines.append(tr("From {1}", str(backup.taken_of)))
    return "\n".join(lines)


def doubt_text(project: str) -> str:
    """Why the backups of several projects are listed for a damaged project."""
    return tr(
        "{1} is too damaged to tell which project it was. These are the backups of all projects "
        "with this name. "
        "Check the location and the counts before you restore one.",
        project,
    )


def copies_text(project: str) -> str:
    """Why only backups of copies are listed for a damaged project."""
    return tr("{1} is damaged. It has no backups of its own, but a copy of it does.", project)


def heading(group: Group) -> str:
    """Heading of a group; "" for the project's own backups."""
    if group.is_of_copy:
        return tr("From a copy of this project")
    if not group.is_doubtful:
        return ""
    if group.is_of_this_path:
        return tr("From this location")
    if group.taken_of is None:
        return tr("From an unknown location")
    return tr("From another location")


def date_warning(backup: Backup) -> str:
    """Warning about a date in the future; "" for others."""
    is_ahead = backup.is_dated_ahead(present_time())
    return tr("Date in the future") if is_ahead else ""


def failed_text(reason: str) -> str:
    return tr(
        "The backup failed. Your work is saved in the project. {1}", reason[:1].upper() + reason[1:]
    )


def labels(count: int) -> str:
    return plural(count, "1 label", "{n} labels")


def notes(count: int) -> str:
    return plural(count, "1 note", "{n} notes")


def classes(count: int) -> str:
    return plural(count, "1 class", "{n} classes")


def actions(count: int) -> str:
    return plural(count, "1 action", "{n} actions")
