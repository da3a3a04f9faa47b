"""Generate the pages of docs/reference from the code: `python -m research.reference_pages`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from engine.cli.commands import COMMANDS, loaded
from engine.exporting.export_graph import GRAPH_FORMATS
from engine.images.kinds import KINDS, RAW_KINDS
from engine.interchange import detect
from engine.interchange.labelled_images.formats import FORMATS
from engine.interchange.labelled_images.table_rows import COLUMNS
from engine.interchange.labelled_images.table_rows import KINDS as COLUMN_TYPES
from engine.new_file import output_file

FOLDER = Path("docs/reference")
MADE = "<!-- made by `python -m research.reference_pages`; do not edit -->"


ABOUT = """\
Every command with its options, as `protoleaf COMMAND --help` prints them. `PROJECT` is a project
file; `--json` prints one JSON object instead of text. Tasks: [the guide](../guide/command-line.md);
`benchmark` and `experiment`: [experiments](../experiments.md)."""
EVERYWHERE = frozenset({"help", "as_json"})
"""Options of every command, left out."""


COLUMN_MEANINGS = {
    "image": "path of the image, relative to the project's folder where it is below it",
    "class": "class by a person, else the confident class; `unknown`: none of the classes; "
    "`blank`: empty",
    "path": "path of the class from the top level, `Animal/Bird`",
    "all_paths": "every path of a class with several parents",
    "source_id": "id of the class in the list that it was imported from",
    "decided_by": "`person` or `model`",
    "labelled_by": "name of the person",
    "labelled_at": "time of the label, UTC",
    "label_source": "how it was labelled: `review`, `bulk`, `import` ...",
    "stars": "1 to 5",
    "flagged": "whether the image is flagged",
    "comment": "comment of a person",
    "score": "probability of the model's class in `class`; empty for a label of a person",
    "leaf": "most likely class without subclasses",
    "leaf_path": "its path",
    "leaf_score": "its probability, given that the image shows one of the classes",
    "safe_class": "most specific class whose probability reaches its minimum confidence",
    "safe_path": "its path",
    "safe_score": "its probability",
    "is_unknown": "whether the image is of none of the classes, by a person or the model",
    "model": "backbone and version of the model",
    "setting": "setting of the model: `ppn+`, `ppn`, `prototypes` or `regression`",
    "exported_at": "time of the export, UTC",
    "sequence": "id of the burst or clip that the image belongs to",
    "part": "page, time or box in the file; empty for the whole file",
    "box_left": "left edge of the bounding box, as a share of the picture's width",
    "box_top": "top edge, as a share of its height",
    "box_width": "width, as a share of the picture's width",
    "box_height": "height, as a share of the picture's height",
    "category": "category of the detector",
    "detection_score": "score of the detector, 0 to 1",
    "is_empty": "whether nothing is in the image",
    "count": "number of individuals",
    "fields": "the project's own fields, as JSON",
    "content_hash": "hash of the file's content, by which labels find moved images",
    "file": "absolute path of the file",
    "taken_at": "date and time of the photo, with corrections of the clock",
    "camera": "make and model",
    "serial": "serial number of the camera",
    "latitude": "in degrees, WGS 84",
    "longitude": "in degrees, WGS 84",
}
"""Of the columns that CSV, JSON lines and Parquet share."""
TYPE_NAMES = {
    "float": "number",
    "flag": "true or false",
    "time": "time",
    "whole": "whole number",
    "texts": "list of texts",
}


def command_line() -> str:
    """Every command with its arguments and options."""
    lines = [
        "# Command line",
        "",
        MADE,
        "",
        ABOUT,
        "",
    ]
    for name in COMMANDS:
        command = loaded(name)
        inner: Mapping[str, Any] = getattr(command, "commands", {})
        for path, each in [(f"{name} {sub}", each) for sub, each in inner.items()] or [
            (name, command)
        ]:
            lines += [f"## {path}", "", *_command(path, each), ""]
    return "\n".join(lines).rstrip() + "\n"


def _command(path: str, command: Any) -> Iterator[str]:
    context = typer.Context(command, info_name=path)
    yield f"`protoleaf {path} {' '.join(command.collect_usage_pieces(context))}`"
    yield ""
    yield _plain(command.help)
    yield ""
    for each in command.params:
        record = each.get_help_record(context)
        if record is None or each.name in EVERYWHERE:
            continue
        name, text = record[0], _plain(record[1])
        if text != "The project file. [required]":
            yield f"- `{name}`: {text}" if text else f"- `{name}`"


def _plain(text: str | None) -> str:
    return " ".join((text or "").replace("\b", "").split())


def formats() -> str:
    """Supported files: images, labels, class lists."""
    kinds = [f"| {kind.name} | {_code(kind.suffixes)} |" for kind in KINDS]
    labels = [
        f"| `{name}` | {each.title} | {each.description} | "
        f"{'yes' if each.write_file or each.write_folder else ''} "
        f"| {'yes' if each.is_read else ''} | {'; '.join(map(str, each.cannot_carry))} |"
        for name, each in FORMATS.items()
    ]
    classes = [
        f"| `{name}` | {each.description} | {_code(each.patterns)} |"
        for name, each in detect.FORMATS.items()
    ]
    lines = [
        "# Formats",
        "",
        MADE,
        "",
        "## Images",
        "",
        "| kind | suffixes |",
        "|---|---|",
        *kinds,
        f"| RAW photos, by their previews | {_code([f'.{kind.lower()}' for kind in RAW_KINDS])} |",
        "",
        "## Labels and predictions",
        "",
        (
            "`protoleaf export PROJECT FORMAT OUT`, `protoleaf import-labels PROJECT FILE --format "
            "FORMAT`."
        ),
        "",
        "| name | program | what it is | written | read | cannot carry |",
        "|---|---|---|---|---|---|",
        *labels,
        "",
        "## Columns of CSV, JSON lines and Parquet",
        "",
        "The last five are in single tables, not in those of folders.",
        "",
        "| column | type | what it is |",
        "|---|---|---|",
        *(
            f"| `{column}` | {TYPE_NAMES.get(COLUMN_TYPES.get(column, ''), 'text')} "
            f"| {COLUMN_MEANINGS[column]} |"
            for column in COLUMNS
        ),
        "",
        "## Class lists",
        "",
        (
            "`protoleaf import-graph PROJECT SOURCE --format FORMAT`; without `--format` the "
            "content decides."
        ),
        "",
        "| name | what it is | files |",
        "|---|---|---|",
        *classes,
        "",
        "## Class lists and drawings, written",
        "",
        (
            "`protoleaf export-graph PROJECT OUT --format FORMAT`; without `--format` the suffix "
            "decides."
        ),
        "",
        "| name | what it is | suffix |",
        "|---|---|---|",
        *(
            f"| `{name}` | {each.description} | `{each.suffix}` |"
            for name, each in GRAPH_FORMATS.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


PAGES: Mapping[str, Callable[[], str]] = {
    "command-line.md": command_line,
    "formats.md": formats,
}


if __name__ == "__main__":
    for page_name, make in PAGES.items():
        with output_file(FOLDER / page_name) as file:
            file.write(make().encode())
