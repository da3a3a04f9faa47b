"""Commands that make a project and its graph, and look after both."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.output import AsJson, counted, say
from engine.config import CacheFolders
from engine.errors import ProjectDamagedError

if TYPE_CHECKING:
    from engine.inference.providers import ProviderReport

ProjectPath = Annotated[Path, typer.Argument(metavar="PROJECT", help="The project file.")]


def new(
    project: ProjectPath,
    backbone: Annotated[str, typer.Option(help="Name of a bundled backbone, or an ONNX file.")] = "leafnet",
    as_json: AsJson = False,
) -> None:
    """Create an empty project; refuses to overwrite."""
    from engine.workflows.new_project import new_project

    with new_project(project, backbone) as made:
        model = made.model
    say(
        f"Created {project} with backbone {model.backbone_name}.",
        {"project": str(project), "backbone": model.backbone_name, "backbone_hash": model.backbone_hash},
        as_json=as_json,
    )


def import_graph(
    project: ProjectPath,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Folder, CSV, JSON, or wordnet.is_a.txt.")],
    graph_format: Annotated[str, typer.Option("--format", help="Format; found out by default.")] = "auto",
    under: Annotated[str | None, typer.Option(help="Only this class of the source and what is below it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Merge a taxonomy into the project's graph."""
    from engine.project import Project
    from engine.workflows.import_graph import import_graph as run

    with Project.open(project) as opened:
        done = run(opened, source, graph_format=graph_format, under=under)
        total = len(opened.graph)
    say(
        f"Added {counted(done.classes_added, 'class', 'classes')} and {counted(done.edges_added, 'edge')}; "
        f"the graph has {counted(total, 'class', 'classes')}.",
        {"classes_added": done.classes_added, "edges_added": done.edges_added, "classes": total},
        as_json=as_json,
    )


def check(project: ProjectPath, as_json: AsJson = False) -> None:
    """Check the project file; exit status 1 when something is wrong."""
    from engine.project import Project

    with Project.open(project, for_writing=False) as opened:
        problems = opened.check()
        images, classes, labels = opened.image_count, len(opened.graph), len(opened.label_table().image_ids)
    if problems and not as_json:
        raise ProjectDamagedError("the project is damaged", found="; ".join(problems))
    say(
        f"{project} is sound: {counted(classes, 'class', 'classes')}, {counted(images, 'image')}, "
        f"{counted(labels, 'label')}.",
        {"sound": not problems, "problems": problems, "classes": classes, "images": images, "labels": labels},
        as_json=as_json,
    )
    if problems:
        raise typer.Exit(1)


def doctor(as_json: AsJson = False) -> None:
    """Show versions, folders and execution providers, timed, and why the GPU is or is not used."""
    from engine.workflows.doctor import examine

    report = examine(CacheFolders.default())
    lines = [f"{name:<20}{version}" for name, version in report.versions.items()]
    lines += ["", *(f"{provider.name:<28}{_provider_line(provider)}" for provider in report.providers)]
    lines += ["", f"Embedding runs on {report.device}" + (f", because {report.reason}" if report.reason else "")]
    lines += [f"Backbones: {', '.join(report.backbones) or 'none'}", f"Caches: {report.cache_folder}"]
    say("\n".join(lines), report.as_dict(), as_json=as_json)


def _provider_line(provider: "ProviderReport") -> str:
    if provider.works:
        return f"works on {provider.device_name}, first result after {provider.seconds:.2f} s"
    return f"does not work: {provider.reason}"


def register(application: typer.Typer) -> None:
    """Add these commands to the program."""
    application.command("new")(new)
    application.command("import-graph")(import_graph)
    application.command("check")(check)
    application.command("doctor")(doctor)
