"""The sample project: a drawn collection with shots, embedded and ready to open."""

from pathlib import Path
from typing import Final

from engine.collection.classify import classify
from engine.collection.embed import embed_closer, embed_project
from engine.collection.evaluate import Evaluation, evaluate
from engine.collection.new_project import new_project
from engine.config import PROJECT_SUFFIX, CacheFolders
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.everyday.prototypes import Setting
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.interchange.truth_file import read_truth
from engine.new_file import private_folder
from engine.project import Project
from engine.sample_collection.collection import SampleCollection, draw_collection
from engine.sample_collection.together import OnDrawn, ignore_drawn, usual_processes

PROJECT_NAME: Final = f"sample{PROJECT_SUFFIX}"
TRUTH_NAME: Final = "truth.csv"
COLLECTION: Final = "collection"


def draw_sample_project(
    folder: Path,
    *,
    on_progress: OnProgress = ignore_progress,
    on_drawn: OnDrawn = ignore_drawn,
    cancel: CancelToken | None = None,
    images_per_class: int = 11,
) -> Path:
    """Draw the sample collection into `folder` and make a project of it; what is there already stays.

    Returns:
        The project file. Its images are not embedded yet.
    """
    path = folder / PROJECT_NAME
    private_folder(folder)
    if not path.exists():
        drawn = draw_collection(
            folder / COLLECTION,
            images_per_class=images_per_class,
            processes=usual_processes(),
            on_progress=on_progress,
            on_drawn=on_drawn,
            cancel=cancel,
        )
        making = folder / f"making{PROJECT_SUFFIX}"
        making.unlink(missing_ok=True)
        with new_project(making) as project:
            fill_project(project, drawn)
        making.rename(path)
    return path


def make_sample_project(
    folder: Path,
    caches: CacheFolders,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
    images_per_class: int = 11,
) -> Path:
    """Draw the sample project when it is not there yet, and embed its images.

    Returns:
        The project file.
    """
    path = draw_sample_project(folder, on_progress=on_progress, cancel=cancel, images_per_class=images_per_class)
    with Project.open(path) as project:
        embed_project(project, caches, on_progress=on_progress, cancel=cancel)
        embed_closer(project, caches, on_progress=on_progress, cancel=cancel)
    return path


def fill_project(project: Project, drawn: SampleCollection) -> None:
    """Add the drawn classes, images and shots."""
    ids: dict[str, int] = {}

    def add_classes(graph: CategoryGraph) -> None:
        for entry in drawn.classes:
            ids[entry.name] = graph.add_class(entry.name, tuple(ids[parent] for parent in entry.parents))

    project.import_graph(add_classes, "Added the sample's classes")
    entries = []
    for image in drawn.images:
        place = (drawn.folder / image.path).absolute()
        status = place.stat()
        label = ids[image.class_name] if image.is_shot else None
        entries.append((FoundFile(place, status.st_size, status.st_mtime_ns), label))
    project.import_labelled(entries, who="Protoleaf", source="sample", text="Added the sample's images")


def evaluate_sample(path: Path, caches: CacheFolders) -> Evaluation:
    """Score the everyday model on the sample's images without a label."""
    with Project.open(path, for_writing=False) as project:
        answers = read_truth(path.parent / COLLECTION / TRUTH_NAME, project.graph)
        return evaluate(project, classify(project, caches, Setting.PPN_PLUS), answers)
