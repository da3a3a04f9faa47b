"""Import of images from a dialog or by drag and drop."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.actions.row import WRITE_FOR_GOOD, Section, action
from app.feature import CardFeature
from app.file_dialogs import Purpose, choose_folder, open_files
from app.importing.wording import file_kinds, import_text
from app.texts import marked, tr
from app.wording import in_sentences

if TYPE_CHECKING:
    from app.importing.folder_card import FolderCard
    from app.shell import Shell
    from engine.collection.importing.folder_choice import FoundFolder
    from engine.collection.importing.import_images import ImageImport
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress
    from engine.images.find_images import FoundImages


@final
class Importing(CardFeature["FolderCard"]):
    """Add images to the open project."""

    guide_page = "first-collection"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        # Found images and target class of the open card.
        self._asked: tuple[FoundImages, int | None] | None = None
        shell.found_given.connect(self._add)
        shell.images_given.connect(lambda paths, class_id: self.take(paths, class_id=class_id))
        shell.tree.requests.files_dropped.connect(
            lambda class_id, paths: self.take(paths, class_id=class_id)
        )

    # -- choosing

    @action(
        "add_images",
        marked("Add images…"),
        "images_add",
        "Ctrl+I",
        Section.IMAGES_ADD,
        needs=WRITE_FOR_GOOD,
    )
    def choose_images(self) -> None:
        paths = open_files(self._shell, Purpose.IMAGES, tr("Add images"), file_kinds())
        if paths:
            self.take(paths)

    @action(
        "add_folder",
        marked("Add a folder…"),
        "folder_add",
        "Ctrl+Shift+O",
        Section.IMAGES_ADD,
        needs=WRITE_FOR_GOOD,
    )
    def choose_folder(self) -> None:
        folder = choose_folder(self._shell, Purpose.IMAGES, tr("Add a folder"))
        if folder is not None:
            self.take([folder])

    # -- import

    def take(self, paths: Sequence[Path], *, class_id: int | None = None) -> None:
        """Find the images in files and folders, then add them; ask about sub-folders first.

        A separate job reads the disk, so the project is not blocked; a cancelled job adds nothing.
        """

        def find(on_progress: OnProgress, cancel: CancelToken) -> FoundImages:
            from engine.images.find_parts import find_images_and_parts

            return find_images_and_parts(paths, on_progress=on_progress, cancel=cancel)

        self._session.read_files(
            tr("Looking for images"),
            find,
            lambda found: self._on_found(found, class_id),
            is_followed=True,
        )

    def _on_found(self, found: FoundImages, class_id: int | None) -> None:
        if not any(folder.names for folder in found.folders):
            self._add(found, frozenset(), class_id)
            return

        def with_classes(
            live: LiveCollection,
        ) -> tuple[tuple[FoundFolder, ...], frozenset[Path]]:
            from engine.collection.importing.folder_choice import found_folders, known_class_folders

            folders = found_folders(found)
            return folders, known_class_folders(live.project.classes.graph, folders)

        self._session.ask(
            with_classes,
            lambda answer: self._ask_about_folders(found, *answer, class_id),
            owner=self,
        )

    def _ask_about_folders(
        self,
        found: FoundImages,
        folders: Sequence[FoundFolder],
        known: frozenset[Path],
        class_id: int | None,
    ) -> None:
        self._asked = found, class_id
        name = self._session.graph.shown_name(class_id) if class_id is not None else ""
        self.made_card().ask(folders, known, name)

    def make_card(self) -> FolderCard:
        from app.importing.folder_card import FolderCard

        card = FolderCard(self._host)
        card.agreed.connect(self._on_agreed)
        return card

    def _on_agreed(self) -> None:
        from engine.collection.importing.folder_choice import without_folders

        card, asked = self.made_card(), self._asked
        if asked is None:
            return
        card.dismiss()
        chosen = card.list
        self._add(without_folders(asked[0], chosen.left_out), chosen.classes, asked[1])

    def _add(
        self, found: FoundImages, class_folders: Collection[Path], class_id: int | None = None
    ) -> None:
        """Add images; those in class folders get labels, others the given class, if any."""

        def add(live: LiveCollection, on_progress: OnProgress, cancel: CancelToken) -> ImageImport:
            from engine.collection.importing.import_images import add_class_folders, add_found

            if not class_folders:
                return add_found(
                    live.project, found, class_id=class_id, on_progress=on_progress, cancel=cancel
                )
            return add_class_folders(
                live.project,
                found,
                under=class_id,
                chosen=class_folders,
                on_progress=on_progress,
                cancel=cancel,
            )

        self._shell.embedding.expect_photos(
            len(found.named) + sum(len(folder.files) for folder in found.folders)
        )
        job = self._session.run_long(
            add, title=tr("Adding images"), change_of=lambda done: done.change
        )
        job.keeps_finished, job.is_followed = False, True
        job.finished.connect(self._on_imported)

    def _on_imported(self, done: ImageImport) -> None:
        """Report skipped files; the added images have been reported by the change itself."""
        text = import_text(done)
        if text and not done.change.is_empty:
            self.show_undoable(in_sentences(done.change.text, text), is_failure=True)
        elif text and (done.failures or not done.already_there):
            self._toast.report_failure(text)
        elif text:
            self._toast.show_message(text)
