"""The `import-images` command."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from engine.cli.options import ProjectPath, open_project
from engine.cli.output import failure_rows, failure_text, job, left_out_text, print_result
from engine.errors import UsageError
from engine.images.part_reader import EVERY_S, LEAST_S, MOST_S, PartsWanted
from engine.texts import counted


def import_images(
    project: ProjectPath,
    paths: Annotated[list[Path], Argument(metavar="PATH...", help="Images or folders of images.")],
    *,
    class_text: Annotated[
        str | None,
        Option(
            "--class",
            metavar="CLASS",
            help="Add them as shots of this class (name, path, source id or synonym).",
        ),
    ] = None,
    folders_as_classes: Annotated[
        bool,
        Option(
            "--folders-as-classes", help="Treat subfolders as classes and their images as shots."
        ),
    ] = False,
    frames: Annotated[
        str,
        Option(
            "--frames",
            metavar="SECONDS",
            help='Of a video: seconds between frames, or "changes": a frame at each change.',
        ),
    ] = f"{EVERY_S:g}",
) -> None:
    """Add images; with --class they become shots of that class."""
    from engine.collection.importing.import_images import import_class_folders
    from engine.collection.importing.import_images import import_images as run

    if class_text is not None and folders_as_classes:
        raise UsageError(
            "--class and --folders-as-classes exclude each other", remedy="give one of them"
        )
    wanted = _frames_wanted(frames)
    with (
        open_project(project) as opened,
        job("Adding images", "run it again; nothing was added") as running,
    ):
        if folders_as_classes:
            done = import_class_folders(opened, paths, wanted=wanted, **running)
        else:
            class_id = None if class_text is None else opened.classes.graph.find(class_text)
            done = run(
                opened,
                paths,
                class_id=class_id,
                wanted=wanted,
                **running,
            )
    print_result(
        f"Added {counted(done.added, 'image')} ({done.already_there:,} already there), "
        f"{counted(done.labelled, 'label')} and {counted(done.classes_added, 'class', 'classes')}."
        + left_out_text(done.left_out)
        + failure_text(done.failures, "could not be added"),
        {
            "added": done.added,
            "already_there": done.already_there,
            "labelled": done.labelled,
            "classes_added": done.classes_added,
            "failures": failure_rows(done.failures),
            "left_out": dict(done.left_out.by_kind()),
            "other_files": done.left_out.others,
            "raw_doubles": done.left_out.raw_doubles,
        },
    )


def _frames_wanted(text: str) -> PartsWanted:
    """Parse `--frames`; raises `UsageError`."""
    if text == "changes":
        return PartsWanted(at_changes=True)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not LEAST_S <= seconds <= MOST_S:
        raise UsageError(
            "--frames is not a time between frames",
            expected='seconds from {least:g} to {most:,.0f}, or "changes"',
            found=text[:40],
            least=LEAST_S,
            most=MOST_S,
        )
    return PartsWanted(every_s=seconds)
