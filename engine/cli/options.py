"""Options and helpers that several commands share."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from engine.backbones.preprocessing import preset, three_numbers
from engine.cli.output import note
from engine.errors import ProjectLockedError, ProjectReadOnlyError, UsageError
from engine.texts import either

if TYPE_CHECKING:
    from engine.project import Project

_MISUSED = 2
SETTINGS = ("ppn+", "ppn", "prototypes", "regression")


def _known(device: str) -> str:
    """Validate a device before anything else."""
    from engine.runtime.devices.facts import check_device

    check_device(device)
    return device


ProjectPath = Annotated[Path, Argument(metavar="PROJECT", help="The project file.")]
DeviceName = Annotated[
    str,
    Option(
        "--device",
        help="auto, cpu, cuda, tensorrt, coreml or directml. The last three are experimental.",
        callback=_known,
    ),
]
ImagesFrom = Annotated[
    list[Path] | None,
    Option(
        metavar="FOLDER",
        help="Also allow images from this folder and its subfolders; otherwise only from "
        "the list's folder and those of the project's images. May be repeated.",
    ),
]
SettingName = Annotated[str, Option("--setting", help="ppn+, ppn, prototypes or regression.")]


def check_setting(name: str, settings: Sequence[str] = SETTINGS) -> None:
    """Raise `UsageError` for an unknown setting."""
    if name not in settings:
        raise UsageError("there is no such setting", expected=", ".join(settings), found=name)


def open_project(path: Path, *, for_writing: bool = True) -> "Project":
    """Open a project; see `Project.open`."""
    from engine.project import Project

    return Project.open(path, for_writing=for_writing)


def open_or_read(path: Path, *, without_writing: str) -> "Project":
    """Open a project for writing; if it is locked or read-only, for reading, with a note.

    Args:
        without_writing: the consequence, as the end of a sentence.
    """
    try:
        return open_project(path)
    except (ProjectLockedError, ProjectReadOnlyError) as error:
        opened = open_project(path, for_writing=False)
        note(f"{error.what}, so it is only read; {without_writing}")
        return opened


def command_group(about: str) -> typer.Typer:
    """Make a command group; without a command it prints its help and exits with status 2."""
    group = typer.Typer(help=about)
    group.callback(invoke_without_command=True)(_explain)
    return group


def _explain(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(_MISUSED)


RANGES: Mapping[str, Mapping[str, Any]] = {
    "0-1": {"value_scale": 1.0},
    "0-255": {"value_scale": 255.0},
    "symmetric": {"value_scale": 1.0, "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)},
}
_OPTIONS: Mapping[str, tuple[type, str, str | None, str]] = {
    "preset_name": (
        str,
        "--preset",
        None,
        (
            "A common preprocessing: imagenet, minus-one-to-one, zero-to-one, zero-to-255, caffe "
            "or clip."
        ),
    ),
    "input_side": (int, "--input-side", "PIXELS", "Side of the square input."),
    "mean": (str, "--mean", "R,G,B", "Subtracted from red, green and blue, in this order."),
    "std": (str, "--std", "R,G,B", "Standard deviation to divide by."),
    "value_range": (
        str,
        "--range",
        None,
        "0-1 or 0-255: the range that mean and std refer to; symmetric: -1 to 1.",
    ),
    "layout": (str, "--layout", None, "nchw or nhwc; checked against the file."),
    "channel_order": (str, "--channel-order", None, "rgb, bgr or grey."),
    "resize_share": (
        float,
        "--resize-share",
        None,
        "Centre crop as a share of the short side, such as 0.875.",
    ),
    "output": (str, "--output", "NAME", "Output to take embeddings from."),
    "pooling": (str, "--pooling", None, "none, mean (of a map or tokens) or first (token)."),
    "unit_length": (
        bool,
        "--unit-length/--own-length",
        None,
        "Normalise embeddings to unit length, the default.",
    ),
}
"""Type, name, placeholder and help by parameter of `chosen_fields`."""


def takes_preprocessing(command: Callable[..., None]) -> Callable[..., None]:
    """Add the preprocessing options to a command, which gets their values as `chosen`."""

    @wraps(command)
    def with_options(**given: Any) -> None:
        chosen = chosen_fields(**{name: given.pop(name) for name in _OPTIONS})
        command(**given, chosen=chosen)

    signature = inspect.signature(command, eval_str=True)
    own = [parameter for name, parameter in signature.parameters.items() if name != "chosen"]
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kind | None, Option(flag, metavar=metavar, help=text)],
        )
        for name, (kind, flag, metavar, text) in _OPTIONS.items()
    ]
    parameters = [*own, *options]
    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def chosen_fields(
    *,
    preset_name: str | None = None,
    value_range: str | None = None,
    mean: str | None = None,
    std: str | None = None,
    **others: object,
) -> dict[str, Any]:
    """Fields of `Preprocessing` by the options; a single option overrides a preset.

    Raises:
        UsageError: an option's value is invalid, or there is no such preset.
    """
    chosen = {} if preset_name is None else dict(preset(preset_name))
    if value_range is not None:
        if value_range not in RANGES:
            raise UsageError("no such range", expected=either(RANGES), found=value_range)
        chosen |= RANGES[value_range]
    for name, text in (("mean", mean), ("std", std)):
        try:
            chosen |= {} if text is None else {name: three_numbers(text)}
        except ValueError as error:
            expected = "R,G,B, such as 0.5,0.5,0.5"
            raise UsageError(
                "--{name} cannot be read", expected=expected, found=str(text), name=name
            ) from error
    return chosen | {name: value for name, value in others.items() if value is not None}


Columns = Annotated[
    list[str] | None,
    Option(
        "--column",
        metavar="ROLE=NAME",
        help="What a column of a table is, such as class=Species or file=Photo. May be repeated.",
    ),
]


def named_columns(options: list[str] | None) -> dict[str, str]:
    """Parse `--column ROLE=NAME`: column by role."""
    pairs = [option.partition("=") for option in options or ()]
    for role, sign, name in pairs:
        if not (role.strip() and sign and name.strip()):
            raise UsageError(
                "--column names a role and a column",
                expected="ROLE=NAME, such as class=Species",
                found=f"{role}{sign}{name}",
                remedy="write it so",
            )
    return {role.strip(): name.strip() for role, _, name in pairs}
