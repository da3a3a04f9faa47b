"""What can be asked of a project; the actions are in `project`."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engine.graph.category_graph import CategoryGraph
from engine.project import detail_rows, image_rows, label_rows, model_rows, policy_rows, prediction_rows, soundness
from engine.project.backups.contents import Contents, read_contents
from engine.project.backups.keeping import ProjectBackups
from engine.project.file.file_state import read_mark
from engine.project.graph_rows import load_graph
from engine.project.image_paths import ImagePaths
from engine.project.journal import Journal
from engine.project.opening import OpenFile
from engine.project.records import (
    ClassDetails,
    ClassId,
    ClassPolicy,
    ImageId,
    ImageRecord,
    ImageTable,
    JournalStep,
    Label,
    LabelTable,
    ModelVersion,
    Prediction,
)


class ProjectQuestions(ABC):
    """The reading half of a project. Nothing is loaded before it is asked for.

    Args:
        path: the project file, absolute.
        file: the same, open.
        spelled: the same as the person gave it, which may lead over links.
    """

    def __init__(self, path: Path, file: OpenFile, *, spelled: Path) -> None:
        self.path = path
        self._file = file
        self._connection = file.connection
        self._paths = ImagePaths.around(path, spelled)
        self._journal = Journal(file.connection)
        self._graph: CategoryGraph | None = None

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    # -- the file --------------------------------------------------------------------------------------------------

    @property
    def is_writable(self) -> bool:
        """Whether actions are possible."""
        return self._file.is_writable

    def check_place(self) -> None:
        """Look whether the file is still where it was opened; nothing can be saved while it is not.

        Raises:
            ProjectMovedError: it was moved, replaced, deleted or written to; a copy was rescued.
        """
        self._file.check_place()

    @property
    def schema_version(self) -> int:
        """Version of the file's tables."""
        return int(self._connection.value("PRAGMA user_version"))

    @property
    def backups(self) -> ProjectBackups:
        """The backups of this project; may be used from any thread, and after the project was closed."""
        lock = self._file.lock
        return ProjectBackups(
            self.path, read_mark(self._connection).project_id, None if lock is None else lock.identity
        )

    def contents(self) -> Contents:
        """What people did, for a comparison with a backup."""
        return read_contents(self._connection)

    def check(self) -> list[str]:
        """Look for damage: pages, references, cycles, names, history.

        Returns:
            One line for each fault; [] when the project is sound.
        """
        return soundness.faults(self._connection)

    # -- classes ---------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> CategoryGraph:
        """The category graph, loaded once and kept in step with every action. Only actions may edit it.

        A project that is open for reading beside a writer keeps the graph it has loaded.
        """
        if self._graph is None:
            self._graph = load_graph(self._connection)
        return self._graph

    def policies(self) -> dict[ClassId, ClassPolicy]:
        """Policies of the classes that have one of their own."""
        return policy_rows.policies(self._connection)

    def details(self) -> dict[ClassId, ClassDetails]:
        """Notes and colours of the classes that have any."""
        return detail_rows.details(self._connection)

    def details_of(self, class_id: ClassId) -> ClassDetails:
        """Note and colour of one class."""
        return detail_rows.details_of(self._connection, class_id)

    def colours(self) -> dict[ClassId, str]:
        """Colours of the classes that have one, without their notes: those of a large taxonomy are megabytes."""
        return detail_rows.colours(self._connection)

    # -- images ----------------------------------------------------------------------------------------------------

    @property
    def image_count(self) -> int:
        """Number of images."""
        return int(self._connection.value("SELECT COUNT(*) FROM image"))

    def images(self) -> Sequence[ImageRecord]:
        """All images in ascending id order."""
        return image_rows.image_records(self._connection)

    def image(self, image_id: ImageId) -> ImageRecord:
        """One image.

        Raises:
            InputError: it is not in the project.
        """
        return image_rows.image_record(self._connection, int(image_id))

    def image_table(self, image_ids: Sequence[ImageId] | None = None) -> ImageTable:
        """All images as columns, or those of these that are there: the quick way to read many."""
        return image_rows.image_table(self._connection, image_ids)

    def each_image_path(self) -> Iterator[tuple[ImageId, str]]:
        """Id and path of each image in ascending id order, few in memory at once; the project may change meanwhile."""
        return ((image_id, path) for image_id, path, _hash in self.each_image_content())

    def each_image_content(self) -> Iterator[tuple[ImageId, str, bytes | None]]:
        """Id, path and content hash of each image, as `each_image_path`; None where it was never read."""
        return image_rows.each_image_content(self._connection)

    def find_image(self, path: Path | str) -> ImageId | None:
        """Id of the image at a path, or None.

        Args:
            path: absolute, or relative to the working folder.
        """
        return image_rows.find_image(self._connection, self._paths.stored(Path(path)))

    def images_alike(self, size_bytes: int, name: str) -> Iterator[Path]:
        """Where the images are that had this size when they were read last, or whose file has this name."""
        return map(self._paths.absolute, image_rows.paths_alike(self._connection, size_bytes, name))

    def each_image_file(self) -> Iterator[Path]:
        """Where each image is on this computer, few in memory at once."""
        return (self._paths.absolute(path) for _, path in self.each_image_path())

    def resolve(self, record: ImageRecord) -> Path:
        """Where an image's file is on this computer."""
        return self._paths.absolute(record.path)

    # -- labels by people ------------------------------------------------------------------------------------------

    def labels(self) -> dict[ImageId, Label]:
        """All labels by image, in ascending image id order."""
        return {label.image_id: label for label in label_rows.labels(self._connection)}

    def label_table(self) -> LabelTable:
        """All labels as columns: the quick way to read many."""
        return label_rows.label_table(self._connection)

    def label_of(self, image_id: ImageId) -> Label | None:
        """The label of one image, or None."""
        return label_rows.label_of(self._connection, int(image_id))

    def labelled_counts(self) -> dict[ClassId, int]:
        """Number of images labelled with exactly each class; classes without any are left out."""
        return label_rows.labelled_counts(self._connection)

    # -- models ----------------------------------------------------------------------------------------------------

    @property
    def model(self) -> ModelVersion:
        """The model version in use."""
        return model_rows.model_version(self._connection, model_rows.chosen_version_id(self._connection))

    def model_version(self, version_id: int) -> ModelVersion:
        """One model version.

        Raises:
            InputError: there is none with this id.
        """
        return model_rows.model_version(self._connection, int(version_id))

    def model_versions(self) -> list[ModelVersion]:
        """All model versions, oldest first."""
        return model_rows.model_versions(self._connection)

    def model_file(self, content_hash: str) -> bytes:
        """Content of a model file that lies in the project.

        Raises:
            ProjectDamagedError: it is not there, or its content is not what it was.
        """
        return model_rows.model_file(self._connection, content_hash)

    def predictions(self, setting: str) -> list[Prediction]:
        """What the model version in use predicted, in ascending image id order.

        Args:
            setting: "ppn+", "ppn" or "prototypes".

        Returns:
            One for each predicted image that is still there; labelled images are not left out.
        """
        version_id = model_rows.chosen_version_id(self._connection)
        return prediction_rows.predictions(self._connection, version_id=version_id, setting=setting)

    # -- settings and history --------------------------------------------------------------------------------------

    def setting(self, name: str, default: Any = None) -> Any:
        """A named setting, or the default where it is not set."""
        return policy_rows.setting(self._connection, name, default)

    @property
    def undo_text(self) -> str | None:
        """The action that undo would take back, in words; None when there is none."""
        return self._journal.undo_text

    @property
    def redo_text(self) -> str | None:
        """The action that redo would make again, in words; None when there is none."""
        return self._journal.redo_text

    def history(self, limit: int = 100) -> list[JournalStep]:
        """The latest steps, latest first, those that were undone included."""
        return self._journal.history(limit)
