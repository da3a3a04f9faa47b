"""The commands `fields` and `clock`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from engine.cli.options import ProjectPath, open_project
from engine.cli.output import list_text, print_result
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.field_renaming import Renaming, paired_fields, renamed_fields
from engine.image_fields import (
    COUNT,
    PRESETS,
    FieldKind,
    ImageField,
    as_plain,
    checked_value,
    read_definition,
    written_definition,
)
from engine.project.actions import action
from engine.texts import counted, either

if TYPE_CHECKING:
    from engine.collection.clock_preview import ClockPreview
    from engine.project import ImageId, Project
    from engine.project.clock_corrections import ClockCorrection


def fields(
    project: ProjectPath,
    *,
    define: Annotated[
        list[str] | None,
        Option(
            "--define",
            metavar="FIELD",
            help='Add or change a field: "sex: female, male", "distance: number", "antlers: '
            'yes_no" or "remark: text". May be repeated.',
        ),
    ] = None,
    preset: Annotated[
        str,
        Option("--preset", help="Add the fields of camera-trap: sex, life stage, behaviour."),
    ] = "",
    remove: Annotated[
        list[str] | None,
        Option(
            "--remove", metavar="NAME", help="Remove a field with all its values. May be repeated."
        ),
    ] = None,
    rename: Annotated[
        list[str] | None,
        Option(
            "--rename",
            metavar="NAME=NEW",
            help='Rename a field, or one of its choices: "sex=gender", "sex: female=hen". Values '
            "follow. "
            "May be repeated.",
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="NAME=VALUE",
            help="Set a field of the images that match --search, such as count=12; without a "
            "value it is removed. May be repeated.",
        ),
    ] = None,
    search: Annotated[
        str,
        Option("--search", metavar="TEXT", help="Images for --set; see `images`."),
    ] = "",
) -> None:
    """List, define, rename or set fields of images."""
    pairs, names = _pairs(values or [], search), _new_names(rename or [])
    usual, added = _preset(preset), list(map(read_definition, define or []))
    is_changed = bool(usual or added or remove or names)
    with open_project(project, for_writing=is_changed or bool(pairs)) as opened:
        done = [_define(opened, names, usual, added, remove or [])] if is_changed else []
        if pairs:
            done += _set(opened, pairs, search)
        _print_fields(opened, done)


def _print_fields(project: "Project", done: Sequence[str]) -> None:
    known = project.fields.defined
    counts = Counter(name for each in project.fields.values().values() for name in each)
    rows = [*as_plain([COUNT]), *as_plain(known)]
    lines = [
        f"{written_definition(each)} ({counted(counts[each.name], 'image')})"
        for each in (COUNT, *known)
    ]
    text = "\n".join(
        [
            *(f"{each}." for each in done),
            f"{counted(len(lines), 'field')}.{list_text('Fields', lines)}",
        ]
    )
    print_result(
        text,
        {"fields": [row | {"images": counts[row["name"]]} for row in rows], "done": list(done)},
    )


def _pairs(texts: Sequence[str], search: str) -> list[tuple[str, str]]:
    if bool(texts) != bool(search):
        raise UsageError(
            "--set and --search go together",
            expected='such as --set count=12 --search "name:IMG_01"',
        )
    pairs = [each.partition("=") for each in texts]
    for name, sign, _value in pairs:
        if not (name.strip() and sign):
            raise UsageError(
                "--set names a field and a value", expected="such as count=12", found=name
            )
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def _preset(name: str) -> Sequence[ImageField]:
    if name and name not in PRESETS:
        raise UsageError("there is no such preset", expected=either(PRESETS), found=name)
    return PRESETS[name] if name else ()


def _missing(preset: Sequence[ImageField], present: Sequence[ImageField]) -> list[ImageField]:
    """Fields of a preset that the project does not have, also not under another name."""
    own = {name: pair[0].search_name for name, pair in paired_fields(present, preset).items()}
    return [
        each for each in preset if own.get(each.search_name, each.search_name) == each.search_name
    ]


def _new_names(texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs = [
        (before.strip(), name.strip())
        for before, _sign, name in (each.partition("=") for each in texts)
    ]
    for before, name in pairs:
        if not (before and name):
            raise UsageError(
                "--rename names a field and its new name",
                expected='such as sex=gender, or "sex: female=hen" for a choice',
                found=before or name,
            )
    return pairs


def _renaming(project: "Project", before: str, name: str) -> Renaming:
    named, colon, choice = map(str.strip, before.partition(":"))
    field = project.fields.field(named)
    if field == COUNT:
        raise UsageError("count cannot be renamed", expected="a field of the project's own")
    if not colon:
        return Renaming(field.name, name)
    if field.kind is not FieldKind.CHOICE:
        raise UsageError(
            'the field "{name}" has no choices', expected="a field with choices", name=field.name
        )
    return Renaming(field.name, name, checked_value(field, choice))


def _define(
    project: "Project",
    names: Sequence[tuple[str, str]],
    preset: Sequence[ImageField],
    added: Sequence[ImageField],
    removed: Sequence[str],
) -> str:
    """Define the project's fields; return a description of the change."""
    renamings = [_renaming(project, *each) for each in names]
    fields = _defined(project, renamings, preset, added, removed)
    return project.fields.define(fields, renamings).text


def _defined(
    project: "Project",
    renamings: Sequence[Renaming],
    preset: Sequence[ImageField],
    added: Sequence[ImageField],
    removed: Sequence[str],
) -> list[ImageField]:
    """Fields after renaming, removing, replacing and appending."""
    gone = {project.fields.field(name).name for name in removed}
    if COUNT.name in gone:
        raise UsageError("count cannot be removed", expected="a field of the project's own")
    stay = renamed_fields(
        [each for each in project.fields.defined if each.name not in gone], renamings
    )
    news = {each.search_name: each for each in (*_missing(preset, stay), *added)}
    kept = [_changed(each, news.pop(each.search_name, each)) for each in stay]
    return [*kept, *news.values()]


def _changed(field: ImageField, described: ImageField) -> ImageField:
    """A field with a new definition, but its own name."""
    return replace(field, kind=described.kind, choices=described.choices)


def _set(project: "Project", pairs: Sequence[tuple[str, str]], search: str) -> list[str]:
    ids = _found(project, search)
    with project.history.one_step(action("fields_set", fields=len(pairs), images=len(ids))) as step:
        changes = [project.fields.set(ids, name, value or None) for name, value in pairs]
        if len(changes) == 1:
            step.action = changes[0].action
    return [each.text for each in changes]


def _found(project: "Project", search: str) -> "list[ImageId]":
    from engine.collection.found_images import images_found

    return [each.image_id for each in images_found(project, CacheFolders.default(), search)]


def clock(
    project: ProjectPath,
    *,
    folder: Annotated[
        Path | None,
        Option("--folder", help="Correct the times of images in this folder and its subfolders."),
    ] = None,
    camera: Annotated[
        str,
        Option(
            "--camera",
            help="Correct the times of a camera, given by make and model as `images` shows them.",
        ),
    ] = "",
    serial: Annotated[
        str,
        Option("--serial", help="Only the camera with this serial number."),
    ] = "",
    offset: Annotated[
        str,
        Option(
            "--offset",
            metavar="OFFSET",
            help="Offset to add to its clock: +1h02m, -3:30, +1:02:15.",
        ),
    ] = "",
    zone: Annotated[
        str,
        Option("--zone", metavar="ZONE", help="Time zone of its clock: +02:00, UTC-3, UTC."),
    ] = "",
    remove: Annotated[bool, Option("--remove", help="Remove the correction.")] = False,
    preview: Annotated[
        bool, Option("--preview", help="Show what would change, and change nothing.")
    ] = False,
) -> None:
    """List, set or remove clock corrections."""
    from engine.collection.clock_preview import ClockPreview, preview_correction

    is_meant = folder is not None or bool(camera or serial)
    if is_meant != bool(offset or zone or remove) or (remove and (offset or zone)):
        raise UsageError(
            "a clock is corrected for a folder or a camera",
            expected="--folder or --camera, with --offset, --zone or both, or with --remove",
        )
    if (folder is not None) == bool(camera) and is_meant:
        raise UsageError(
            "a clock is corrected for a folder or a camera", expected="one of --folder and --camera"
        )
    would = ClockPreview()
    with open_project(project, for_writing=is_meant and not preview) as opened:
        if is_meant:
            where = None if folder is None else opened.clocks.stored_folder(folder)
            correction = _correction(where, camera, serial, offset, zone)
            would = preview_correction(opened, correction)
            if not preview:
                opened.clocks.set(correction)
        corrections = opened.clocks.corrections().all
    lines = [_line(each) for each in corrections]
    head = _change_text(would, is_preview=preview) if is_meant else ""
    text = f"{head}{counted(len(lines), 'correction')} of clocks.{list_text('Corrections', lines)}"
    print_result(text, _record(would, corrections, is_preview=preview))


def _correction(
    folder: str | None, camera: str, serial: str, offset: str, zone: str
) -> "ClockCorrection":
    from engine.project.clock_corrections import ClockCorrection, read_offset, read_zone

    seconds, minutes = read_offset(offset) if offset else 0, read_zone(zone) if zone else None
    return ClockCorrection(folder, camera, serial, seconds, minutes)


def _change_text(would: "ClockPreview", *, is_preview: bool) -> str:
    verb = "Would correct" if is_preview else "Corrected"
    text = f"{verb} the time of {counted(would.images, 'image')}"
    if would.before is None or would.after is None:
        return f"{text}.\n"
    (first, last), (first_after, last_after) = would.before, would.after
    return f"{text}: {_span(first, last)} becomes {_span(first_after, last_after)}.\n"


def _span(first: datetime, last: datetime) -> str:
    return (
        first.isoformat(" ")
        if first == last
        else f"{first.isoformat(' ')} to {last.isoformat(' ')}"
    )


def _line(correction: "ClockCorrection") -> str:
    from engine.project.clock_corrections import offset_text, zone_text

    parts = [offset_text(correction.seconds)] if correction.seconds else []
    if correction.zone_minutes is not None:
        parts.append(zone_text(correction.zone_minutes))
    return f"{correction.source_text}: {', '.join(parts)}"


def _record(
    would: "ClockPreview", corrections: "Sequence[ClockCorrection]", *, is_preview: bool
) -> dict[str, object]:
    spans = {"before": would.before, "after": would.after}
    times = {
        name: None if span is None else [each.isoformat() for each in span]
        for name, span in spans.items()
    }
    return {
        "images": would.images,
        **times,
        "preview": is_preview,
        "corrections": [asdict(each) for each in corrections],
    }
