"""The command by which the category graph leaves for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.graph_commands import ProjectPath
from engine.cli.output import AsJson, Overwrite, counted, say


def export_graph(
    project: ProjectPath,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write, such as classes.graphml.")],
    *,
    graph_format: Annotated[
        str, typer.Option("--format", help="json, csv, graphml, skos, dot or svg; by the file's suffix by default.")
    ] = "auto",
    is_dark: Annotated[bool, typer.Option("--dark", help="Draw an SVG on a dark ground.")] = False,
    is_overwriting: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write the category graph for another program, or as a drawing."""
    from engine.collection.exporting.export_graph import export_graph as run
    from engine.project import Project

    with Project.open(project, for_writing=False) as opened:
        written = run(opened, out, graph_format, is_dark=is_dark, is_overwriting=is_overwriting)
    say(
        f"Wrote {counted(written.classes, 'class', 'classes')} and {counted(written.edges, 'edge')} to {out}.",
        {"classes": written.classes, "edges": written.edges, "format": written.format_name, "out": str(out)},
        as_json=as_json,
    )


def register(application: typer.Typer) -> None:
    """Add this command to the program."""
    application.command("export-graph")(export_graph)
