"""The commands `export` and `import-labels`."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from typer import Argument, Option

from engine.cli.copy_commands import Previews, export_copy
from engine.cli.options import (
    Columns,
    ImagesFrom,
    ProjectPath,
    SettingName,
    named_columns,
    open_project,
)
from engine.cli.output import (
    Overwrite,
    failure_rows,
    failure_text,
    job,
    label_text,
    list_text,
    print_result,
)
from engine.cli.replaced_command import replaced_fields, replaced_text, written_to_text
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.files import size_text
from engine.new_folder import Placing
from engine.texts import counted

if TYPE_CHECKING:
    from engine.collection.importing.label_plan import ClassConflict, LabelPlan
    from engine.interchange.labelled_images.records import WrittenExport
    from engine.project import Project

Choice = TypeVar("Choice", bound=StrEnum)

COPY = "copy"  # format of a project archive
MODEL = "model"  # format of an exported model
FORMAT_NAMES = (
    "csv, jsonl, parquet, folders, coco, yolo, yolo-detection, cvat, label-studio, fiftyone, "
    "huggingface, darwin-core, camtrap-dp, xmp, copy, or model"
)
FormatName = Annotated[str, Argument(metavar="FORMAT", help=f"One of {FORMAT_NAMES}.")]
Target = Annotated[
    Path,
    Argument(metavar="OUT", help="File or folder to write; a folder must be new or empty."),
]
Images = Annotated[
    str,
    Option(
        help="verified: images labelled by a person; sure: also those with a confident "
        "prediction; all: also images without a class."
    ),
]
Files = Annotated[
    str, Option(help="How to put images into folders: copy, hard-link or symbolic-link.")
]
Flat = Annotated[
    bool,
    Option("--flat", help="All class folders at one level, as torchvision's ImageFolder expects."),
]
Coarse = Annotated[
    bool,
    Option(
        "--coarse",
        help="yolo, yolo-detection, folders --flat: include images of classes with "
        "subclasses, which are left out by default.",
    ),
]
Crops = Annotated[
    bool,
    Option("--crops", help="folders, yolo and huggingface: crop the boxes, as JPEGs."),
]
ByteOrderMark = Annotated[
    bool,
    Option(
        "--byte-order-mark",
        help="csv: begin with a byte order mark, so that Excel reads accents correctly.",
    ),
]


def export(
    project: ProjectPath,
    format_name: FormatName,
    out: Target,
    *,
    images: Images = "sure",
    files: Files = "copy",
    is_flat: Flat = False,
    has_coarse: Coarse = False,
    has_crops: Crops = False,
    has_byte_order_mark: ByteOrderMark = False,
    has_previews: Previews = False,
    setting: SettingName = "ppn+",
    is_overwriting: Overwrite = False,
) -> None:
    """Export labels, predictions, a project archive or a model."""
    from engine.everyday.classifier import Setting
    from engine.exporting.export import ExportChoice, Which, export_project
    from engine.interchange.labelled_images.class_folders import FolderOptions

    if format_name == COPY:
        export_copy(project, out, has_previews=has_previews, is_overwriting=is_overwriting)
        return
    if format_name == MODEL:
        _export_model(project, out, _one_of(Setting, setting, "--setting").value)
        return
    choice = ExportChoice(
        format_name,
        out,
        _one_of(Which, images, "--images"),
        FolderOptions(_one_of(Placing, files, "--files"), is_flat, has_coarse, has_crops),
        is_overwriting,
        has_byte_order_mark,
    )
    with (
        job("Exporting", "run it again; nothing was written") as running,
        open_project(project, for_writing=False) as opened,
    ):
        written = export_project(
            opened,
            CacheFolders.default(),
            choice,
            _one_of(Setting, setting, "--setting"),
            **running,
        )
        text, fields = _exported(opened, written, out)
    print_result(text, {**fields, "format": format_name})


def _exported(
    project: "Project", written: "WrittenExport", out: Path
) -> tuple[str, dict[str, Any]]:
    """Text and JSON of an export, with outdated labels."""
    replaced = replaced_text(project) + written_to_text(project)
    return (
        f"Wrote {counted(written.images, 'image')} to {out}.{_left_out_text(written)}{replaced}",
        {
            "images": written.images,
            "out": str(out),
            "left_out": dict(written.left_out),
            "failures": failure_rows(written.failures),
            "replaced": replaced_fields(project),
        },
    )


def _export_model(project: Path, out: Path, setting: str) -> None:
    from engine.bundle.export import export_model
    from engine.everyday.classifier import Setting

    with (
        job("Exporting the model", "run it again; nothing was written") as running,
        open_project(project, for_writing=False) as opened,
    ):
        done = export_model(
            opened,
            CacheFolders.default(),
            out,
            Setting(setting),
            **running,
        )
    print_result(
        f"Wrote a model of {counted(done.classes, 'class', 'classes')} to {out} "
        f"({size_text(done.size_bytes)}).",
        {
            "out": str(out),
            "format": "model",
            "classes": done.classes,
            "files": list(done.files),
            "size_bytes": done.size_bytes,
            "largest_difference": done.difference,
        },
    )


def _one_of(choices: type[Choice], text: str, option: str) -> Choice:
    try:
        return choices(text)
    except ValueError:
        raise UsageError(
            "{option} does not accept this",
            expected=", ".join(each.value for each in choices),
            found=text,
            option=option,
        ) from None


def _left_out_text(written: "WrittenExport") -> str:
    lines = [
        f"{counted(count, 'image')} left out: {reason}."
        for reason, count in written.left_out.items()
    ]
    return "".join(f"\n{line}" for line in lines) + failure_text(
        written.failures, "could not be written"
    )


def import_labels(
    project: ProjectPath,
    source: Annotated[
        Path,
        Argument(
            metavar="FILE", help="A file or folder written by `export` or by another program."
        ),
    ],
    *,
    format_name: Annotated[
        str,
        Option(
            "--format", help="Its format, or `keywords` for those in photos; detected by default."
        ),
    ] = "auto",
    who: Annotated[
        str,
        Option(help="Annotator of labels without one in the file; by default the file's name."),
    ] = "",
    adds_classes: Annotated[bool, Option("--add-classes", help="Add missing classes.")] = False,
    adds_images: Annotated[
        bool,
        Option("--add-images", help="Add missing images whose files are found."),
    ] = False,
    images_from: ImagesFrom = None,
    columns: Columns = None,
    threshold: Annotated[
        float, Option(min=0.0, max=1.0, help="Minimum score of a detector's boxes.")
    ] = 0.2,
    is_dry: Annotated[
        bool, Option("--dry-run", help="Show what would happen, and change nothing.")
    ] = False,
) -> None:
    """Import labels, and list conflicts."""
    from engine.collection.importing.import_labels import import_labels as run

    with open_project(project, for_writing=not is_dry) as opened:
        if is_dry:
            opened.what_if.begin()  # a copy in memory, which ends with the project
        done = run(
            opened,
            source,
            format_name=format_name,
            columns=named_columns(columns),
            who=who,
            adds_classes=adds_classes,
            adds_images=adds_images,
            image_folders=images_from or (),
            threshold=threshold,
        )
    plan, labels, classes, images = done.plan, done.labelled, done.classes_added, done.images_added
    verb = "Would import" if is_dry else "Imported"
    head = f"{verb} {counted(labels, 'label')} from {source.name} ({plan.format_name})"
    if classes or images:
        head += f", {counted(classes, 'class', 'classes')} and {counted(images, 'image')} added"
    if done.boxes_added:
        head += f", {counted(done.boxes_added, 'box', 'boxes')} added"
    reading = f"\n{plan.table.summary}." if plan.table else ""
    notes = f"\nStars or comments of {counted(len(plan.notes), 'image')}." if plan.notes else ""
    print_result(
        f"{head}; {plan.already_there:,} already there.{reading}{notes}{_rest_text(plan)}",
        _record(plan)
        | {
            "labels": labels,
            "classes_added": classes,
            "images_added": images,
            "boxes_added": done.boxes_added,
        }
        | {"dry_run": is_dry},
    )


def _record(plan: "LabelPlan") -> dict[str, object]:
    return {
        "format": plan.format_name,
        "table": None
        if plan.table is None
        else {"title": plan.table.title, "columns": dict(plan.table.used)},
        "already_there": plan.already_there,
        "conflicts": [asdict(each) for each in plan.conflicts],
        "contradictions": [asdict(each) for each in plan.contradictions],
        "class_conflicts": [asdict(each) for each in plan.class_conflicts],
        "content_conflicts": [asdict(each) for each in plan.content_conflicts],
        "missing_classes": {"/".join(names): count for names, count in plan.new_classes.items()},
        "missing_images": list(plan.missing_images),
        "by_machine": plan.by_machine,
        "suggestions": plan.suggestions,
        "unlabelled": plan.unlabelled,
        "loosely_spelled": {name: asdict(each) for name, each in plan.loosely_spelled.items()},
        "as_none": plan.as_none,
        "ambiguous_images": {image: list(paths) for image, paths in plan.ambiguous_images.items()},
        "notes": len(plan.notes),
        "problems": list(plan.problems),
    }


def _rest_text(plan: "LabelPlan") -> str:
    parts = [
        list_text(
            "Names spelled differently here (capitals, blanks, underscores, accents)",
            [
                f"{name}: as {each.path}, {counted(each.labels, 'label')}"
                for name, each in plan.loosely_spelled.items()
            ],
        ),
        list_text(
            "Read as none of the classes, as no class has this name",
            [f"{name}: {counted(count, 'label')}" for name, count in plan.as_none.items()],
        ),
        list_text(
            "Labelled differently here; our labels are kept",
            [
                f"{c.image}: {label_text(c.ours)} here, {label_text(c.theirs)} by {c.who}"
                for c in plan.conflicts
            ],
        ),
        list_text(
            "Two classes for one image; the first was used",
            [
                f"{c.image}: {label_text(c.ours)}, {label_text(c.theirs)}"
                for c in plan.contradictions
            ],
        ),
        list_text(
            "Not imported: ambiguous class",
            list(map(_unclear_text, plan.class_conflicts)),
        ),
        list_text(
            "Not imported: the image of this name here is a different one",
            [f"{c.image}: {c.ours} ({c.reason})" for c in plan.content_conflicts],
        ),
        list_text(
            "Not imported: several images of the project match",
            [f"{image}: {' or '.join(paths)}" for image, paths in plan.ambiguous_images.items()],
        ),
        list_text(
            "Classes that are missing here (--add-classes adds them)",
            [
                f"{'/'.join(names)}: {counted(count, 'label')}"
                for names, count in plan.new_classes.items()
            ],
        ),
        list_text(
            "Keywords that match no class",
            [f"{name}: {counted(count, 'image')}" for name, count in plan.suggestions.items()],
        ),
        list_text(
            "Images that are not in the project (--add-images adds them)", plan.missing_images
        ),
        list_text("Not understood", plan.problems),
    ]
    if plan.by_machine:
        parts.append(
            f"\n{counted(plan.by_machine, 'prediction')} of a model skipped: only people's "
            "labels are imported."
        )
    return "".join(parts)


def _unclear_text(conflict: "ClassConflict") -> str:
    """`a.jpg: "Apple" is Apple here, id "1" is Plum`."""
    by_name = f'"{conflict.written}" is {" or ".join(conflict.by_name) or "no class"} here'
    by_id = (
        f', id "{conflict.source_id}" is {" or ".join(conflict.by_id) or "none"}'
        if conflict.source_id
        else ""
    )
    return f"{conflict.image}: {by_name}{by_id}"
