"""The commands by which labels leave for other programs, and come back from them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from engine.cli.model_bundle import export_the_model
from engine.cli.options import ProjectPath, SettingName
from engine.cli.output import AsJson, Overwrite, counted, failure_rows, failure_text, progress_bar, say
from engine.config import CacheFolders
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.interchange.labelled_images.records import WrittenExport

Choice = TypeVar("Choice", bound=StrEnum)

MODEL: Final = "model"
"""The format that is no labels of images, but what was learned from them."""
_FORMATS: Final = (
    "csv, jsonl, parquet, folders, coco, yolo, cvat, label-studio, fiftyone, huggingface, darwin-core, camtrap-dp, "
    "xmp, or model"
)
FormatName = Annotated[str, typer.Argument(metavar="FORMAT", help=f"One of {_FORMATS}.")]
Target = Annotated[Path, typer.Argument(metavar="OUT", help="File or folder to write; a folder must be new or empty.")]
Images = Annotated[
    str,
    typer.Option(
        help="verified: images that a person labelled; sure: those, and where the model is sure enough; all: also "
        "images without a class.",
    ),
]
Files = Annotated[str, typer.Option(help="How images come into a folder: copy, hard-link or symbolic-link.")]
Flat = Annotated[
    bool, typer.Option("--flat", help="Class folders beside one another, as torchvision's ImageFolder wants them.")
]
Coarse = Annotated[
    bool,
    typer.Option(
        "--coarse",
        help="yolo and folders --flat: also images of classes that lie above others; without, they stay out.",
    ),
]
ByteOrderMark = Annotated[
    bool, typer.Option("--byte-order-mark", help="csv: begin with one, so that Excel reads accents rightly.")
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
    has_byte_order_mark: ByteOrderMark = False,
    setting: SettingName = "ppn+",
    is_overwriting: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write labels and predictions in the format of another program. Images are copied or linked, never changed."""
    from engine.collection.exporting.export import ExportChoice, export_project
    from engine.collection.exporting.gather import Which
    from engine.everyday.classifier import Setting
    from engine.interchange.labelled_images.placed_images import FolderOptions
    from engine.new_folder import Placing
    from engine.project import Project

    if format_name == MODEL:
        export_the_model(project, out, _one_of(Setting, setting, "--setting").value, as_json=as_json)
        return
    choice = ExportChoice(
        format_name,
        out,
        _one_of(Which, images, "--images"),
        FolderOptions(_one_of(Placing, files, "--files"), is_flat, has_coarse),
        is_overwriting,
        has_byte_order_mark,
    )
    with Project.open(project, for_writing=False) as opened, progress_bar("Exporting") as on_progress:
        written = export_project(
            opened, CacheFolders.default(), choice, _one_of(Setting, setting, "--setting"), on_progress=on_progress
        )
    say(
        f"Wrote {counted(written.images, 'image')} to {out}.{_left_out_text(written)}",
        {
            "images": written.images,
            "out": str(out),
            "format": format_name,
            "left_out": dict(written.left_out),
            "failures": failure_rows(written.failures),
        },
        as_json=as_json,
    )


def _one_of(choices: type[Choice], text: str, option: str) -> Choice:
    try:
        return choices(text)
    except ValueError:
        raise UsageError(
            "{option} does not know this", expected=", ".join(each.value for each in choices), found=text, option=option
        ) from None


def _left_out_text(written: "WrittenExport") -> str:
    lines = [f"{counted(count, 'image')} left out: {reason}." for reason, count in written.left_out.items()]
    return "".join(f"\n{line}" for line in lines) + failure_text(written.failures, "could not be written")
