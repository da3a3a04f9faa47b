"""The command that says which images to label first."""

from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.graph_commands import ProjectPath
from engine.cli.output import AsJson, percent, say
from engine.config import CacheFolders

if TYPE_CHECKING:
    from engine.collection.teach_first import ToLabel
    from engine.graph.category_graph import CategoryGraph


def suggest(
    project: ProjectPath,
    count: Annotated[int, typer.Option(min=1, help="At most so many images.")] = 12,
    as_json: AsJson = False,
) -> None:
    """List the images whose labels would teach most, best first; also before any label. Changes nothing."""
    from engine.collection.teach_first import images_to_label
    from engine.project import Project

    with Project.open(project, for_writing=False) as opened:
        found = images_to_label(opened, CacheFolders.default(), count)
        graph = opened.classes.graph
        lines = [_line(graph, image) for image in found]
        fields = [
            {"image": image.path, "class": _class_of(graph, image), "score": image.score if image.class_id else None}
            for image in found
        ]
    say("\n".join(lines) or "Every image with an embedding is labelled.", {"images": fields}, as_json=as_json)


def _line(graph: "CategoryGraph", image: "ToLabel") -> str:
    """`photos/7.jpg  Fruit/Apple 43.1%`: the guess is what the label would settle."""
    guess = _class_of(graph, image)
    return image.path if guess is None else f"{image.path}  {guess} {percent(image.score)}"


def _class_of(graph: "CategoryGraph", image: "ToLabel") -> str | None:
    return None if image.class_id is None else graph.path_text(image.class_id)


def register(application: typer.Typer) -> None:
    """Add this command to the program."""
    application.command("suggest")(suggest)
