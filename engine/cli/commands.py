"""Table of the commands; the module of a command is imported when it runs, to start fast."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import cleandoc
from typing import Any

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

from engine import __version__
from engine.cli.output import print_json
from engine.errors import UsageError

GROUP = "protoleaf.commands"  # of entry points of other packages
LABORATORY_PACKAGE = "research"
COMMANDS: Mapping[str, tuple[str, str]] = {
    "new": (
        "project_commands:new",
        (
            "Create a project; an existing file is never overwritten. An ONNX file is "
            "tested and added to the library first."
        ),
    ),
    "check": (
        "project_commands:check",
        "Check the project file; exit status 1 if anything is wrong.",
    ),
    "import-graph": (
        "graph_commands:import_graph",
        "Merge a taxonomy into the project's graph, or update one to a later version.",
    ),
    "doctor": (
        "doctor_command:doctor",
        (
            "Show versions, devices with their speed, why the GPU is not used, image "
            "formats, folders and backbones."
        ),
    ),
    "import-images": (
        "import_command:import_images",
        "Add images; with --class they become shots of that class.",
    ),
    "embed": (
        "collection_commands:embed",
        (
            "Embed all images into the cache, or with --out into a data set; an "
            "interrupted run resumes where it stopped."
        ),
    ),
    "classify": (
        "collection_commands:classify",
        "Classify all unlabelled images; with --model, image files without a project.",
    ),
    "evaluate": (
        "collection_commands:evaluate",
        "Compare predictions with ground truth, at the leaves and at every level.",
    ),
    "report": (
        "report_command:report",
        (
            "Write a report: progress, accuracy, calibration, confusion, figures for "
            "each class, errors, counts."
        ),
    ),
    "export": (
        "label_commands:export",
        (
            "Write labels and predictions in the format of another program. Images are copied or "
            "linked, never changed."
        ),
    ),
    "export-graph": (
        "graph_commands:export_graph",
        "Write the category graph for another program, or as a drawing.",
    ),
    "import-labels": (
        "label_commands:import_labels",
        (
            "Import labels given elsewhere. Labels of this project are never "
            "overwritten: conflicts are listed."
        ),
    ),
    "merge": (
        "merge_command:merge",
        (
            "Merge another person's copy of a project into this one. Labels of this "
            "project are kept unless --prefer says otherwise."
        ),
    ),
    "unpack": (
        "copy_commands:unpack",
        "Unpack a copy of a project with its photos into a new folder.",
    ),
    "train": (
        "training_commands:train",
        (
            "Train a new model version on the project's labels; a stopped training of "
            "the backbone is resumed."
        ),
    ),
    "versions": (
        "training_commands:versions",
        "List the project's model versions, or choose the one to use.",
    ),
    "relink": (
        "project_commands:relink",
        (
            "Find moved images: by their folders, then by name and size, then by content. Asks "
            "first; can be undone."
        ),
    ),
    "menu-entry": (
        "project_commands:menu_entry",
        (
            "Add this program to the menu of a Linux desktop, and open projects with it "
            "on a double click."
        ),
    ),
    "suggest": (
        "image_commands:suggest",
        "List the images to label first; works without any labels. Changes nothing.",
    ),
    "sample": (
        "sample_command:sample",
        "Create a project with N images of a data set to label, with their embeddings.",
    ),
    "replaced": (
        "replaced_command:replaced",
        (
            "List labelled images whose file now contains another photo; confirm or "
            "remove their labels."
        ),
    ),
    "audit": (
        "audit_command:audit",
        (
            "Estimate the accuracy of predictions from the labels of images drawn at "
            "random, or draw some."
        ),
    ),
    "check-labels": (
        "check_labels_command:check_labels",
        (
            "List labels that are probably wrong, most likely first, each with the "
            "reason. Changes nothing."
        ),
    ),
    "images": (
        "image_commands:images",
        (
            "List images that match a search, with their main details; with --json all "
            "of them. Changes nothing."
        ),
    ),
    "fields": (
        "field_commands:fields",
        "List the project's image fields; define and rename them, and set their values.",
    ),
    "clock": (
        "field_commands:clock",
        (
            "List the clock corrections of cameras, or correct the clock of a folder or "
            "camera. Files are not changed."
        ),
    ),
    "similar": (
        "similarity_commands:similar",
        "List the images of a project by their similarity to one. Changes nothing.",
    ),
    "duplicates": (
        "similarity_commands:duplicates",
        (
            "List duplicates and bursts: identical files, near-duplicates, and shots "
            "within seconds. Changes nothing."
        ),
    ),
    "detect": (
        "detect_command:detect",
        (
            "Detect objects in all images, and add their boxes as images to label. An "
            "interrupted run resumes where it stopped."
        ),
    ),
    "map": (
        "map_command:make_map",
        (
            "Lay out all embedded images in a plane, similar ones close together, with the "
            "prototypes of the classes."
        ),
    ),
    "what-if": (
        "graph_commands:what_if",
        (
            "Show which images an edit of the graph would change, and its effect on "
            "accuracy. Changes nothing."
        ),
    ),
    "policy": (
        "policy_command:policy",
        "List a project's rules, or change those of a class or of the whole project.",
    ),
    "backup": (
        "backup_commands:backup",
        "Make a verified backup now; the project may be open in the window.",
    ),
    "restore": (
        "backup_commands:restore",
        (
            "Restore a backup; the project as it is now is backed up first. Asks when run in a "
            "terminal."
        ),
    ),
    "backbone": (
        "backbone_commands:application",
        "Backbones: the networks that turn an image into an embedding.",
    ),
    "backups": (
        "backup_commands:application",
        "A project's backups: list them, or choose where they are kept.",
    ),
}
"""In the order of the help: module and function below `engine.cli`, and help."""
LABORATORY: Mapping[str, str] = {
    "benchmark": "Benchmark the program, each figure with its limit.",
    "experiment": "Build the paper's data sets, train and test its "
    "models, make its tables and figures.",
}
"""Commands that `research` adds by entry points of the group, with their help."""
COMMAND_NAMES = frozenset({*COMMANDS, *LABORATORY})
"""Command names; another first word is a project to open in the window."""


def new_program(**given: Any) -> typer.Typer:
    """A program without commands, with plain help."""
    return typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, **given
    )


def loaded(name: str) -> Any:
    """Import a command; one that is not installed explains how to install it.

    The first paragraph of its help is that of the list, further ones are those of its docstring.
    """
    program = new_program()
    if name in LABORATORY:
        _add_laboratory(program, name)
    else:
        module, _, member = COMMANDS[name][0].partition(":")
        found = getattr(import_module(f"engine.cli.{module}"), member)
        if isinstance(found, typer.Typer):
            program.add_typer(found, name=name)
        else:
            details = cleandoc(found.__doc__).partition("\n\n")[2]
            program.command(name, help=f"{COMMANDS[name][1]}\n\n{details}")(found)
    command = typer.main.get_group(program).commands[name]
    _add_json_option(command)
    return command


def _add_json_option(command: Any) -> None:
    """Add `--json` to a command, or to all commands of a group."""
    waiting = [command]
    while waiting:
        each = waiting.pop()
        if isinstance(each, TyperGroup):
            waiting += each.commands.values()
        else:
            each.params.append(_json_option())


@cache
def _json_option() -> Any:
    program = new_program()

    @program.command()
    def command(
        as_json: bool = Option(
            False,
            "--json",
            help="Print one JSON object instead of text.",
            callback=print_json,
            expose_value=False,
        ),
    ) -> None: ...

    return typer.main.get_command(program).params[0]


def _add_laboratory(program: typer.Typer, name: str) -> None:
    found = _entry_point(name)
    if found is not None:
        program.add_typer(found, name=name)
        return

    @program.command(
        name,
        hidden=True,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    def missing() -> None:
        raise UsageError(
            "`protoleaf {name}` is not installed",
            expected="Protoleaf with its experiments",
            found="the program only",
            remedy="install it in a Python environment: pip install 'protoleaf[experiments]'",
            name=name,
        )


def cluster_commands() -> Any:
    """Module `protoleaf_cluster.commands`; raises `UsageError` if it is not installed."""
    found = _entry_point("cluster")
    if found is None:
        raise UsageError(
            "protoleaf-cluster is not installed",
            expected="protoleaf-cluster on this computer and on every node of the cluster",
            found="Protoleaf alone",
            remedy="install it in a Python environment: pip install protoleaf-cluster",
        )
    return found


def _entry_point(name: str) -> Any:
    """Load an entry point of the group; None if its package is not installed."""
    from importlib import metadata

    try:
        return metadata.entry_points(group=GROUP)[name].load()
    except (KeyError, ModuleNotFoundError):  # installers have the metadata, but not the package
        return None


class CommandGroup(TyperGroup):
    """Lists the commands of the tables, and imports the one that runs."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name, about in {
            **{name: about for name, (_, about) in COMMANDS.items()},
            **LABORATORY,
        }.items():
            self.add_command(TyperCommand(name, help=about))

    def list_commands(self, ctx: Any) -> list[str]:
        return [
            name
            for name in super().list_commands(ctx)
            if name in COMMANDS or find_spec(LABORATORY_PACKAGE)
        ]

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _listed, rest = super().resolve_command(ctx, args)
        return name, name and loaded(name), rest


application = new_program(
    cls=CommandGroup,
    name="protoleaf",
    help="Turns a taxonomy and a handful of images per class into a classified collection. "
    "Without a command, `protoleaf [PROJECT]` opens the window.",
)


@application.callback(invoke_without_command=True)
def _about(
    context: typer.Context,
    version: bool = Option(False, "--version", help="Print the version."),
    language: str = Option(
        "", "--language", metavar="CODE", help="Language of window and messages; comes first."
    ),
) -> None:
    if language:  # it is processed earlier if it is the first argument
        raise UsageError("--language comes first", found=language)
    if version:
        typer.echo(f"protoleaf {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
