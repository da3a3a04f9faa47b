"""The sample project with embeddings, and evaluation of the everyday model on it."""

from pathlib import Path

from engine.collection.classify import classify_project
from engine.collection.embed import embed_closer, embed_project
from engine.collection.new_project import COLLECTION, TRUTH_NAME, copy_sample_project
from engine.config import CacheFolders
from engine.evaluation.evaluate import Evaluation, evaluate
from engine.evaluation.truth_file import read_truth
from engine.events import OnProgress, ignore_progress
from engine.project import Project


def make_sample_project(
    folder: Path, caches: CacheFolders, *, on_progress: OnProgress = ignore_progress
) -> Path:
    """Copy the sample project if missing, embed its images, and return its file."""
    path = copy_sample_project(folder)
    with Project.open(path) as project:
        embed_project(project, caches, on_progress=on_progress)
        embed_closer(project, caches, on_progress=on_progress)
    return path


def evaluate_sample(path: Path, caches: CacheFolders) -> Evaluation:
    """Score the everyday model on the unlabelled images of the sample."""
    with Project.open(path, for_writing=False) as project:
        answers = read_truth(path.parent / COLLECTION / TRUTH_NAME, project.classes.graph)
        return evaluate(project, classify_project(project, caches), answers)
