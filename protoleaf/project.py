"""A project file as Arrow tables: classes, images, labels and predictions."""

from collections.abc import Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from engine.collection.classify import Classified, classify_project
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.models import model_of
from engine.config import CacheFolders
from engine.file_parts import WHOLE
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import EMPTY, NO_CLASS, UNKNOWN
from engine.interchange.labelled_images.table_rows import EMPTY_LABEL
from engine.interchange.predictions_file import UNKNOWN_NAME
from engine.project import Project as ProjectFile

_NAMES = {UNKNOWN: UNKNOWN_NAME, EMPTY: EMPTY_LABEL}


@final
class Project:
    """A project, opened for reading: its file stays as it is, also while the window has it open.

        with Project.open("birds.protoleaf") as project:
            labels = project.labels().to_pandas()
            image_ids, X = project.embeddings()

    Tables are as of the opening. Classes are given by name and by path ("animal/bird/gull"), since
    several may have the same name.
    """

    def __init__(self, file: ProjectFile, caches: CacheFolders) -> None:
        self._file = file
        self._caches = caches
        self._answers: Classified | None = None

    @classmethod
    def open(cls, path: str | PathLike[str], cache: str | PathLike[str] | None = None) -> Self:
        """Open a project file.

        Args:
            path: of a .protoleaf file.
            cache: folder of embeddings; by default the one of the program.

        Raises:
            ProjectMissingError: no file is there.
            ProjectDamagedError: the file is not a project, or is damaged.
            ProjectTooNewError: a newer version of the program made it.
        """
        folders = CacheFolders.default() if cache is None else CacheFolders(Path(cache))
        return cls(ProjectFile.open(Path(path), for_writing=False), folders)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        self._file.close()

    @property
    def graph(self) -> CategoryGraph:
        """The category graph, which `PrototypePropagationClassifier` takes."""
        return self._file.classes.graph

    def classes(self) -> pa.Table:
        """A row for each class: id, name, path, paths of its parents, level, labelled images."""
        graph, counts = self.graph, self._file.labels.counts()
        ids = graph.classes()
        parents = [[graph.path_text(parent) for parent in graph.parents(each)] for each in ids]
        return pa.table(
            {
                "class_id": pa.array(ids, pa.int64()),
                "name": pa.array(map(graph.name, ids), pa.string()),
                "path": pa.array(map(graph.path_text, ids), pa.string()),
                "parents": pa.array(parents, pa.list_(pa.string())),
                "level": pa.array(map(graph.level, ids), pa.int32()),
                "labelled_images": pa.array([counts.get(each, 0) for each in ids], pa.int64()),
            }
        )

    def images(self) -> pa.Table:
        """A row for each image: id, absolute path, part of the file, content hash, failure."""
        table = self._file.images.table()
        hashes = [None if each is None else each.hex() for each in table.content_hashes]
        return pa.table(
            {
                "image_id": pa.array(table.ids, pa.int64()),
                "image": pa.array(map(self._absolute, table.paths), pa.string()),
                "part": pa.array(
                    [None if each == WHOLE else each for each in table.parts], pa.string()
                ),
                "content_hash": pa.array(hashes, pa.string()),
                "failure": pa.array([each or None for each in table.failures], pa.string()),
            }
        )

    def labels(self) -> pa.Table:
        """A row for each label of a person: image, class, annotator, time and source.

        An image of none of the classes has the class "unknown" and no path.
        """
        labels = list(self._file.labels.by_image().values())
        class_ids = [label.code for label in labels]
        times = pa.array([label.when for label in labels], pa.timestamp("us", "UTC"))
        return pa.table(
            {
                "image_id": pa.array([label.image_id for label in labels], pa.int64()),
                **self._class_columns(class_ids, "class", "path"),
                "labelled_by": pa.array([label.who or None for label in labels], pa.string()),
                "labelled_at": times,
                "label_source": pa.array([label.source for label in labels], pa.string()),
            }
        )

    def predictions(self) -> pa.Table:
        """A row for each embedded image: most probable leaf and safe class, with probabilities.

        The model is fitted to the labels, as the window does it; the first call takes seconds.

        Raises:
            InputError: there are no classes, no labels or no embeddings yet.
        """
        answers = self._classified()
        found = answers.predictions
        return pa.table(
            {
                "image_id": pa.array(answers.image_ids, pa.int64()),
                **self._class_columns(found.best_class.tolist(), "leaf", "leaf_path"),
                "leaf_score": pa.array(found.best_score, pa.float32()),
                **self._class_columns(found.safe_class.tolist(), "safe_class", "safe_path"),
                "safe_score": pa.array(found.safe_score, pa.float32()),
                "is_unknown": pa.array(found.is_unknown, pa.bool_()),
                "is_labelled": pa.array(answers.labels != NO_CLASS, pa.bool_()),
            }
        )

    def embeddings(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Ids (n,) of the embedded images, ascending, and embeddings (n, d) of length 1.

        Raises:
            ModelError: the project's backbone is gone.
        """
        embedded = EmbeddedImages(self._file, model_of(self._file, self._caches), self._caches)
        with closing(embedded):
            embedded.read(reads_list=True)
            rows, store = embedded.ready_rows, embedded.store
            return store.image_ids[rows], store.floats(rows)

    def _classified(self) -> Classified:
        if self._answers is None:
            self._answers = classify_project(self._file, self._caches)
        return self._answers

    def _absolute(self, path: str) -> str:
        return str(self._file.path.parent / path)

    def _class_columns(self, codes: Sequence[int], name: str, path: str) -> dict[str, pa.Array]:
        """Names and paths of class ids or codes, in columns of these names; null for `NO_CLASS`."""
        graph = self.graph
        names, paths = dict(_NAMES), dict.fromkeys(_NAMES)
        for each in set(codes) - {NO_CLASS, *_NAMES}:
            names[each], paths[each] = graph.name(each), graph.path_text(each)
        return {
            name: pa.array(map(names.get, codes), pa.string()),
            path: pa.array(map(paths.get, codes), pa.string()),
        }
