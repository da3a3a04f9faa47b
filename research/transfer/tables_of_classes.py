"""A collection with class tables, as the sample collection, in place of class folders."""

from pathlib import Path

import numpy as np

from engine.collection.new_project import TRUTH_NAME
from engine.evaluation.truth_file import read_truth
from engine.graph.category_graph import CategoryGraph
from engine.images.find_images import find_images
from engine.interchange.detect import read_graph
from engine.interchange.versions.plan import merge_into
from research.transfer.collection import TransferCollection

EDGES_NAME = "edges.csv"
SHOTS_NAME = "shots.csv"


def has_tables(source: Path) -> bool:
    """Whether a folder has such tables."""
    return all((source / name).is_file() for name in (EDGES_NAME, SHOTS_NAME, TRUTH_NAME))


def read_tables(source: Path) -> TransferCollection:
    """Read the images of leaves; any of them may be drawn as a shot.

    Args:
        source: folder of images, `edges.csv`, `shots.csv` and `truth.csv`.

    Raises:
        FormatError: a table has another format, or names a class that is not in the graph.
        StorageError: a file cannot be read.
    """
    source = source.absolute()
    imported = read_graph(source / EDGES_NAME)
    graph = CategoryGraph()
    merge_into(graph, imported)
    classes = read_truth(source / SHOTS_NAME, graph) | read_truth(source / TRUTH_NAME, graph)
    leaves = frozenset(graph.leaves())
    found = [
        (file, classes.get(file.path.relative_to(source).as_posix()))
        for file in find_images([source]).files
    ]
    known = [(file, class_id) for file, class_id in found if class_id in leaves]
    class_ids = np.array([class_id for _file, class_id in known], dtype=np.int64)
    is_train = np.ones(len(known), dtype=bool)
    return TransferCollection(
        source, graph, tuple(file for file, _class_id in known), is_train, class_ids, imported
    )
