"""Images on their way in: chosen in a dialog or dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast, final

from app.actions.row import WRITE_FOR_GOOD, Section, action
from app.feature import Feature
from app.file_dialogs import Purpose, choose_folder, open_files
from app.jobs.background_thread import DetachedJob
from app.texts import marked, plural, tr
from app.wording import enumeration, images, in_sentences, number
from engine.files import shown
from engine.images.kinds import IMAGE_SUFFIXES
from engine.texts import translated

if TYPE_CHECKING:
    from app.shell import Shell
    from engine.collection.importing.import_images import ImageImport
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress
    from engine.images.find_images import FoundImages
    from engine.images.kinds import LeftOut


PARTS_NAMED: Final = 3  # names of folders in a question


def file_kinds() -> str:
    """What the dialog for images offers: `Images (*.avif *.AVIF …);;All files (*)`."""
    suffixes = " ".join(f"*{suffix} *{suffix.upper()}" for suffix in sorted(IMAGE_SUFFIXES))
    return tr("Images (%1);;All files (*)", suffixes)


def folders_question(folder: str, count: int) -> str:
    """What to ask about the sub-folders of a folder; of several folders at once when it has no name."""
    return plural(
        count,
        "%1 has 1 subfolder with images. Make it a class?",
        "%1 has %n subfolders with images. Make them classes?",
        _quoted(folder),
    )


def parts_question(folder: str, parts: Sequence[str]) -> str:
    """What to ask where folders are called as parts of data sets are, such as images and train."""
    return tr(
        "%1 looks like a data set: %2 are usual names of its parts, not of classes. "
        "To have its boxes, import its labels instead. Make classes of them all the same?",
        _quoted(folder),
        enumeration(map(_quoted, parts[:PARTS_NAMED])),
    )


def make_classes(count: int) -> str:
    """The answer that makes classes."""
    return plural(count, "Make a class", "Make classes")


def only_add_images(class_name: str) -> str:
    """The answer that makes none; dropped on a class, the images become shots of it."""
    if class_name:
        return tr("Label all as %1", class_name)
    return tr("Only add the images")


def _quoted(folder: str) -> str:
    return tr("“%1”", shown(folder)) if folder else tr("What you dropped")


def import_text(done: ImageImport) -> str:
    """Sentences about what was not added; empty where all is well."""
    parts = [
        _failure_text(done) if done.failures else "",
        left_out_text(done.left_out),
        raw_doubles_text(done.left_out.raw_doubles),
    ]
    if done.added == 0 and not done.failures:
        if done.already_there:
            parts.insert(0, tr("Nothing new: %1 already in the project", images(done.already_there)))
        else:
            parts.insert(0, tr("No images found there"))
    return in_sentences(*parts)


def _failure_text(done: ImageImport) -> str:
    first, others = done.failures[0], len(done.failures) - 1
    name, reason = shown(first.path.name), shown(translated(first.reason))
    if others:
        return plural(
            others, "%1 and 1 more could not be added: %2", "%1 and %n more could not be added: %2", name, reason
        )
    return tr("%1 could not be added: %2", name, reason)


def left_out_text(left_out: LeftOut) -> str:
    """`12 HEIC, 3 MOV were left out: these kinds of files are not read`; empty where there were none."""
    if not left_out.count:
        return ""
    kinds = enumeration(f"{number(count)} {kind}" for kind, count in left_out.by_kind())
    return plural(
        left_out.count,
        "%1 was skipped: this file type is not supported",
        "%1 were skipped: these file types are not supported",
        kinds,
    )


def raw_doubles_text(count: int) -> str:
    """`12 RAW photos were skipped: the camera stored them as JPEG or HEIC, too`; empty where there were none."""
    if not count:
        return ""
    return plural(
        count,
        "1 RAW photo was skipped: the camera stored it as JPEG or HEIC, too",
        "%n RAW photos were skipped: the camera stored them as JPEG or HEIC, too",
    )


@final
class Importing(Feature):
    """Adds images to the open project."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._notice = shell.workspace.notice
        shell.images_given.connect(lambda paths, class_id: self.take(paths, class_id=class_id))
        shell.tree.requests.files_dropped.connect(lambda class_id, paths: self.take(paths, class_id=class_id))

    # -- choosing

    @action("add_images", marked("Add images…"), "images_add", "Ctrl+I", Section.IMAGES_ADD, needs=WRITE_FOR_GOOD)
    def choose_images(self) -> None:
        paths = open_files(self._shell, Purpose.IMAGES, tr("Add images"), file_kinds())
        if paths:
            self.take(paths)

    @action(
        "add_folder", marked("Add a folder…"), "folder_add", "Ctrl+Shift+O", Section.IMAGES_ADD, needs=WRITE_FOR_GOOD
    )
    def choose_folder(self) -> None:
        folder = choose_folder(self._shell, Purpose.IMAGES, tr("Add a folder"))
        if folder is not None:
            self.take([folder])

    # -- dropped

    def take(self, paths: Sequence[Path], *, class_id: int | None = None) -> None:
        """Look for the images in dropped files and folders, then add them; sub-folders are asked about first.

        The disk is read by a job of its own, so the project stays free for everything else; cancelled, it adds nothing.
        """

        def work(on_progress: OnProgress, cancel: CancelToken) -> FoundImages:
            from engine.images.find_parts import find_images_and_parts

            return find_images_and_parts(paths, on_progress=on_progress, cancel=cancel)

        job = DetachedJob(tr("Looking for images"), work)
        job.keeps_finished, job.is_followed = False, True
        job.finished.connect(lambda found: self._on_found(found, paths, class_id))
        job.failed.connect(self._session.failed)
        self._session.closed.connect(job.cancel)
        self._session.jobs.watch(job)
        job.start()

    def _on_found(self, found: FoundImages, paths: Sequence[Path], class_id: int | None) -> None:
        count = sum(1 for folder in found.folders if folder.names)
        if count:
            self._ask_about_folders(found, paths, count, class_id)
        else:
            self._add(found, class_id)

    def _ask_about_folders(self, found: FoundImages, paths: Sequence[Path], count: int, class_id: int | None) -> None:
        from engine.interchange.labelled_images.box_sets import parts_among

        parts = parts_among(name for folder in found.folders for name in folder.names)
        dropped = paths[0].name if len(paths) == 1 else ""
        question = parts_question(dropped, parts) if parts else folders_question(dropped, count)
        where = self._session.graph.shown_name(class_id) if class_id is not None else ""
        self._notice.ask(
            question,
            [
                (make_classes(count), lambda: self._add_class_folders(found, class_id)),
                (only_add_images(where), lambda: self._add(found, class_id)),
            ],
        )

    def _add(self, found: FoundImages, class_id: int | None) -> None:
        """Add images; with a class they become its shots."""

        def work(live: LiveCollection, on_progress: OnProgress, cancel: CancelToken) -> ImageImport:
            from engine.collection.importing.import_images import add_found

            return add_found(live.project, found, class_id=class_id, on_progress=on_progress, cancel=cancel)

        self._run(work, found)

    def _add_class_folders(self, found: FoundImages, under: int | None) -> None:
        """Add images from folders whose sub-folders are classes."""

        def work(live: LiveCollection, on_progress: OnProgress, cancel: CancelToken) -> ImageImport:
            from engine.collection.importing.import_images import add_class_folders

            return add_class_folders(
                live.project, found, under=under, takes_parts=True, on_progress=on_progress, cancel=cancel
            )

        self._run(work, found)

    def _run(self, work: Callable[[LiveCollection, OnProgress, CancelToken], ImageImport], found: FoundImages) -> None:
        self._shell.embedding.expect_photos(len(found.named) + sum(len(folder.files) for folder in found.folders))
        title = tr("Adding images")
        job = self._session.run_long(work, title=title, change_of=lambda done: done.change)
        job.keeps_finished, job.is_followed = False, True
        job.finished.connect(self._on_imported)

    def _on_imported(self, done: object) -> None:
        """Say what came of it, where more is to say than that images were added: the change itself was answered."""
        done = cast("ImageImport", done)
        text = import_text(done)
        if not text:
            return
        if done.change.is_empty:
            self._toast.say_failure(text) if done.failures or not done.already_there else self._toast.say(text)
        else:
            self._toast.say_failure(
                in_sentences(done.change.text, text), action=tr("Undo"), on_action=self._session.undo
            )
