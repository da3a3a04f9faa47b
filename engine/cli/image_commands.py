"""The commands `images` and `suggest`."""

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from engine.cli.options import ProjectPath, open_project
from engine.cli.output import is_json, list_text, print_result, probability_text
from engine.cli.sample_command import WAYS, Seed, check_way
from engine.config import CacheFolders
from engine.texts import counted

if TYPE_CHECKING:
    from engine.collection.classify import ToLabel
    from engine.collection.found_images import FoundImage
    from engine.graph.category_graph import CategoryGraph


def images(
    project: ProjectPath,
    search: Annotated[
        str,
        Option(
            "--search",
            metavar="TEXT",
            help='Words of names, folders, keywords and comments, and fields: "fox '
            'date:2024-05 -labelled stars:>=3". All must match. By default all images.',
        ),
    ] = "",
) -> None:
    """List images that match a query."""
    from engine.collection.found_images import images_found

    with open_project(project, for_writing=False) as opened:
        found = list(images_found(opened, CacheFolders.default(), search))
        graph = opened.classes.graph
        lines = [_line(graph, image) for image in found]
        rows = [_row(graph, image) for image in found] if is_json() else []
    title = (
        f"{counted(len(found), 'image')} found." if search else f"{counted(len(found), 'image')}."
    )
    print_result(title + list_text("Images", lines), {"found": len(found), "images": rows})


def _line(graph: "CategoryGraph", image: "FoundImage") -> str:
    """`photos/7.jpg  2024-05-03 06:30  RECONYX HYPERFIRE 2  Fruit/Apple 43.1%  ***`."""
    parts = [image.path]
    if image.details is not None and image.details.taken_at is not None:
        parts.append(image.details.taken_at.strftime("%Y-%m-%d %H:%M"))
    elif image.details is not None and image.details.taken_on:
        parts.append(image.details.taken_on)
    if image.details is not None and image.details.camera:
        parts.append(image.details.camera)
    if image.class_id is not None:
        share = "" if image.score is None else f" {probability_text(image.score)}"
        parts.append(graph.path_text(image.class_id) + share)
    if image.note is not None:
        parts += [
            part for part in ("*" * image.note.stars, "flagged" * image.note.is_flagged) if part
        ]
    parts += [f"{name}={value}" for name, value in image.values.items()]
    return "  ".join(parts)


def _row(graph: "CategoryGraph", image: "FoundImage") -> dict[str, Any]:
    details, note = image.details, image.note
    taken_at = None
    if details is not None:
        taken_at = details.taken_at.isoformat() if details.taken_at else details.taken_on or None
    return {
        "image": image.path,
        "size_bytes": image.size_bytes,
        "class": None if image.class_id is None else graph.path_text(image.class_id),
        "labelled": image.is_labelled,
        "score": image.score,
        "taken_at": taken_at,
        "camera": details.camera or None if details else None,
        "latitude": details.latitude if details else None,
        "longitude": details.longitude if details else None,
        "width": details.width or None if details else None,
        "height": details.height or None if details else None,
        "fields": dict(details.fields) if details else {},
        "values": dict(image.values),
        "stars": note.stars if note else 0,
        "flagged": note.is_flagged if note else False,
        "comment": note.comment if note else "",
    }


def suggest(
    project: ProjectPath,
    count: Annotated[int, Option(min=1, help="Maximum number of images.")] = 12,
    by: Annotated[
        str,
        Option(
            "--by",
            metavar="WAY",
            help="teach-first: images whose labels would improve predictions most, best "
            "first. random: all with the same probability.",
        ),
    ] = WAYS[0],
    seed: Seed = 0,
) -> None:
    """List the images to label first."""
    check_way(by)
    from engine.collection.classify import images_to_label

    with open_project(project, for_writing=False) as opened:
        found = images_to_label(
            opened, CacheFolders.default(), count, random_seed=seed if by == "random" else None
        )
        graph = opened.classes.graph
        lines = [_suggested_line(graph, image) for image in found]
        fields = [
            {
                "image": image.path,
                "class": _class_of(graph, image),
                "score": image.score if image.class_id else None,
            }
            for image in found
        ]
    print_result(
        "\n".join(lines) or "Every image with an embedding is labelled.",
        {"images": fields},
    )


def _suggested_line(graph: "CategoryGraph", image: "ToLabel") -> str:
    """`photos/7.jpg  Fruit/Apple 43.1%`, with the predicted class."""
    guess = _class_of(graph, image)
    return image.path if guess is None else f"{image.path}  {guess} {probability_text(image.score)}"


def _class_of(graph: "CategoryGraph", image: "ToLabel") -> str | None:
    return None if image.class_id is None else graph.path_text(image.class_id)
