"""The commands `new`, `check`, `menu-entry` and `relink`."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer import Argument, Option

from engine.backbones.model_files import default_backbone
from engine.cli.named_backbone import NAMES, Mirror, Proxy, named_backbone
from engine.cli.options import ImagesFrom, ProjectPath, open_project, takes_preprocessing
from engine.cli.output import asked, failure_rows, is_json, job, print_result
from engine.cli.replaced_command import replaced_fields, replaced_text, written_to_text
from engine.config import CacheFolders
from engine.errors import ProjectDamagedError, UsageError
from engine.menu_entry import add_menu_entry, remove_menu_entry
from engine.texts import counted

if TYPE_CHECKING:
    from engine.collection.importing.data_set import DataSetProject
    from engine.relink.records import FolderCheck, RelinkPlan

T = TypeVar("T")


@takes_preprocessing
def new(
    project: ProjectPath,
    *,
    backbone: Annotated[
        str, Option(metavar="NAME", help=NAMES, show_default="the program's choice")
    ] = "",
    yes: Annotated[
        bool, Option("--yes", help="Download a published network without asking.")
    ] = False,
    proxy: Proxy = "",
    mirror: Mirror = "",
    data_set: Annotated[
        Path | None,
        Option(
            "--data-set",
            metavar="DATASET",
            help="Take images and embeddings from a data set that `embed SOURCE --out DATASET` "
            "made, and its backbone.",
        ),
    ] = None,
    images_from: ImagesFrom = None,
    chosen: dict[str, Any],
) -> None:
    """Create a project."""
    from engine.collection.new_project import check_path_is_free, new_project

    check_path_is_free(project)
    if data_set is not None:
        if backbone:
            raise UsageError("a data set has its own backbone", remedy="leave --backbone out")
        _of_data_set(project, data_set, images_from or [])
        return
    wanted = backbone or default_backbone()
    name, notes = named_backbone(
        wanted, chosen, yes=yes, proxy=proxy, mirror=mirror, when_stopped="nothing was made"
    )
    with new_project(project, name) as made:
        model = made.models.current
    print_result(
        "\n".join((f"Created {project} with backbone {model.backbone_name}.", *notes)),
        {
            "project": str(project),
            "backbone": model.backbone_name,
            "backbone_hash": model.backbone_hash,
        },
    )


def _of_data_set(project: Path, data_set: Path, images_from: list[Path]) -> None:
    from engine.collection.importing.data_set import project_of_data_set

    caches = CacheFolders.default()
    with job("Importing the data set", "nothing was made") as running:
        done = project_of_data_set(
            project,
            data_set,
            caches,
            image_folders=images_from,
            **running,
        )
    print_result(
        f"Created {project} with {counted(done.images, 'image')} of {data_set}, "
        f"{done.embedded:,} of them embedded"
        + (f"; {done.doubles:,} rows named an image again." if done.doubles else ".")
        + data_set_notes(done),
        {"project": str(project), **asdict(done)},
    )


def data_set_notes(done: "DataSetProject") -> str:
    """Text of skipped rows of a data set, and of the verification of its embeddings."""
    lines = []
    if done.left_out_count:
        lines.append(
            f"Left out {counted(done.left_out_count, 'row')} whose file must not become an image "
            "(name folders of images with --images-from):"
        )
        lines += [f"  {each}" for each in done.left_out]
    if done.compared:
        lines.append(f"{counted(done.compared, 'embedding')} computed here too: the same.")
    elif done.embedded:
        lines.append("No image could be read here, so its embeddings were imported unchecked.")
    return "".join(f"\n{line}" for line in lines)


def check(project: ProjectPath) -> None:
    """Check the integrity of a project file."""
    from engine.project import Project

    with job("Checking", "run it again; nothing was changed") as running:
        found = Project.checked(project, **running)
    problems, classes, images, labels = found.faults, found.classes, found.images, found.labels
    if problems and not is_json():
        raise ProjectDamagedError(
            "the project is damaged",
            found="; ".join(problems),
            remedy="restore a backup, or open an earlier copy of the file; nothing was changed",
        )
    replaced, rows = _replaced(project) if not problems else ("", [])
    print_result(
        f"{project} is sound: {counted(classes, 'class', 'classes')}, {counted(images, 'image')}, "
        f"{counted(labels, 'label')}.{replaced}",
        {
            "sound": not problems,
            "problems": problems,
            "classes": classes,
            "images": images,
            "labels": labels,
            "replaced": rows,
        },
    )
    if problems:
        raise typer.Exit(1)


def _replaced(project: Path) -> tuple[str, list[dict[str, Any]]]:
    """Outdated labels as text and JSON."""
    with open_project(project, for_writing=False) as opened:
        return replaced_text(opened) + written_to_text(opened), replaced_fields(opened)


def menu_entry(
    remove: Annotated[bool, Option("--remove", help="Remove it from the menu.")] = False,
) -> None:
    """Add the program to the desktop menu, or remove it."""
    files = [str(path) for path in (remove_menu_entry() if remove else add_menu_entry())]
    if remove:
        text = "Protoleaf is no longer in the menu." if files else "Protoleaf was not in the menu."
    else:
        text = "Protoleaf is in the menu now; a double click opens projects."
    print_result("\n".join([text, *files]), {"removed" if remove else "written": files})


_EXAMPLES = 5


def relink(
    project: ProjectPath,
    folder: Annotated[
        Path | None,
        Argument(metavar="[FOLDER]", help="Where to search; by default the project's folder."),
    ] = None,
    *,
    yes: Annotated[bool, Option("--yes", help="Change the project without asking.")] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Show what would be found, and change nothing.")
    ] = False,
) -> None:
    """Find moved images and update their paths."""
    from engine.relink.find import find_moved, known_images
    from engine.relink.find import relink as apply

    with open_project(project, for_writing=False) as opened:
        known, replaced = known_images(opened), replaced_text(opened) + written_to_text(opened)
    with job("Searching for moved images", "nothing was changed") as running:
        plan = find_moved(known, folder, **running)
    found = 0
    question = f"Update the location of {counted(len(plan.moves), 'image')}?"
    if plan.moves and not dry_run and (yes or asked(_facts(plan), question)):
        with open_project(project) as opened:
            found = len(apply(opened, plan, CacheFolders.default()).images_moved)
    print_result(
        _outcome(plan, found) + replaced,
        _relink_fields(plan, found) if is_json() else {},
    )


def _outcome(plan: "RelinkPlan", found: int) -> str:
    if not plan.searched:
        return (
            f"All {counted(plan.images, 'image')} are in place."
            if plan.images
            else "There are no images."
        )
    if found:
        end = f"Found {counted(found, 'moved image')} again; undo reverts this."
    elif plan.moves:
        end = "Nothing was changed; --yes updates their location."
    else:
        end = "Nothing was changed."
    return f"{_facts(plan)}\n{end}"


def _facts(plan: "RelinkPlan") -> str:
    are = "is" if plan.searched == 1 else "are"
    lines = [f"{plan.searched:,} of {counted(plan.images, 'image')} {are} missing."]
    lines += [f"  {count:,} found by {way}" for way, count in plan.counts.items() if count]
    if plan.changed:
        lines.append(f"    {plan.changed:,} of them changed in the meantime")
    if plan.strangers:
        strangers = counted(len(plan.strangers), "image")
        lines.append(
            f"    {strangers} without a label, added from the new place, will be replaced by them"
        )
    lines += _examples(plan.moves, lambda move: f"{move.image.path} -> {move.file.path}")
    lines += _examples(plan.folders, lambda each: f"{each.folder}: {_checked(each)}")
    if plan.mismatched:
        lines.append(
            f"  {len(plan.mismatched):,} not updated: a file of the same name and size is "
            "another picture"
        )
        lines += _examples(plan.mismatched, lambda move: f"{move.image.path}: {move.file.path}")
    if plan.doubts:
        lines.append(f"  {len(plan.doubts):,} could be several files; choose a narrower folder")
        lines += _examples(
            plan.doubts, lambda doubt: f"{doubt.image.path}: {doubt.count:,} files match"
        )
    if plan.taken:
        lines.append(f"  {len(plan.taken):,} already in the project as another image with a label")
        lines += _examples(plan.taken, lambda move: f"{move.image.path}: {move.file.path}")
    if plan.missing:
        lines.append(f"  {len(plan.missing):,} not found")
        lines += _examples(plan.missing, lambda image: image.path)
    lines += [f"  {failure.path}: {failure.reason}" for failure in plan.failures[:_EXAMPLES]]
    return "\n".join(lines)


def _checked(folder: "FolderCheck") -> str:
    rest = folder.images - folder.verified
    if not rest:
        return f"{counted(folder.images, 'image')}, all verified by content"
    if not folder.verified:
        return f"{counted(folder.images, 'image')}, by name and size only"
    return (
        f"{counted(folder.images, 'image')}: {folder.verified:,} verified by content, {rest:,} "
        "by name and size"
    )


def _examples(some: Sequence[T], text: Callable[[T], str]) -> list[str]:
    more = [f"    and {len(some) - _EXAMPLES:,} more"] if len(some) > _EXAMPLES else []
    return [f"    {text(each)}" for each in some[:_EXAMPLES]] + more


def _relink_fields(plan: "RelinkPlan", found: int) -> dict[str, Any]:
    by_way = {f"by_{way.name.lower()}": count for way, count in plan.counts.items()}
    return {
        "images": plan.images,
        "searched": plan.searched,
        "relinked": found,
        "found": len(plan.moves),
        **by_way,
        "changed": plan.changed,
        "strangers": len(plan.strangers),
        "ambiguous": len(plan.doubts),
        "taken": len(plan.taken),
        "missing": len(plan.missing),
        "places": [str(place) for place in plan.places],
        "moves": [
            {
                "image": move.image.path,
                "file": str(move.file.path),
                "by": move.way.value,
                "verified": move.is_verified,
            }
            for move in plan.moves
        ],
        "folders": [
            {"folder": str(each.folder), "images": each.images, "verified": each.verified}
            for each in plan.folders
        ],
        "mismatched": [
            {"image": move.image.path, "file": str(move.file.path)} for move in plan.mismatched
        ],
        "ambiguous_images": [
            {"image": doubt.image.path, "files": [str(path) for path in doubt.files]}
            for doubt in plan.doubts
        ],
        "missing_images": [image.path for image in plan.missing],
        "failures": failure_rows(plan.failures),
    }
