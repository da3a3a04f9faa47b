"""Unpack a project archive on a thread and open the project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QTimer

from app.feature import CardFeature
from app.file_dialogs import choose_folder_near
from app.jobs.background_thread import BackgroundThread
from app.jobs.slot import JobSlot
from app.texts import tr
from app.wording import sentence
from engine.files import shown

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.archives.logic import CopyLook
    from app.archives.view import CopyCard
    from app.shell import Shell
    from engine.archive.unpack import UnpackedProject
    from engine.events import CancelToken, OnProgress

SETTLED_MS = 150
"""Debounce interval of the folder field, before the folder is checked on disk."""


@final
class Archives(CardFeature["CopyCard"]):
    """Controller of the card of an opened or dropped archive."""

    is_of_project = False
    guide_page = "keeping#a-copy-for-someone"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._thread = BackgroundThread("copies", self)
        self._archive: Path | None = None
        self._unpacking = JobSlot(self._session.jobs, self._thread, keeps_finished=False)
        # Project that is being opened, and the message to show then.
        self._opening: tuple[Path, str] | None = None
        self._looking = JobSlot(thread=self._thread, parent=self)
        self._settled = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._settled.timeout.connect(self._look_again)
        shell.archive_given.connect(self.open_copy)
        self._session.loaded.connect(self._on_loaded)

    def stop(self) -> None:
        """Cancel unpacking and stop the thread; a partly unpacked folder is removed."""
        self._settled.stop()
        self._looking.abandon()
        self._unpacking.cancel()
        self._thread.stop()

    def open_copy(self, archive: Path) -> None:
        """Show the contents of an archive, unless another one is being unpacked."""
        card = self.made_card()
        if self._unpacking.is_busy:
            card.show_over()
            return
        self._archive = archive
        card.show_reading(shown(archive.name), self._merge_text())
        self._look_again()

    def make_card(self) -> CopyCard:
        from app.archives.view import CopyCard

        card = CopyCard(self._host)
        card.changed.connect(self._settled.start)
        card.browse_requested.connect(self._browse)
        card.open_requested.connect(self._unpack)
        card.merge_requested.connect(self._merge)
        card.progress.cancel_requested.connect(self._unpacking.cancel)
        self._unpacking.progressed.connect(card.progress.show_progress)
        return card

    def _look_again(self) -> None:
        card, archive = self.made_card(), self._archive
        self._looking.abandon()
        if archive is None or not card.isVisible() or self._unpacking.is_busy:
            return
        folder = card.chosen_folder if card.look is not None else None

        def look(_on_progress: OnProgress, _cancel: CancelToken) -> CopyLook:
            from app.archives.logic import look_at_copy

            return look_at_copy(archive, folder)

        self._looking.start(
            "archive", look, card.show_look, lambda reason: card.show_failure(sentence(reason))
        )

    def _browse(self) -> None:
        card = self.made_card()
        if card.look is None:
            return
        folder = choose_folder_near(self._host, card.look.folder, tr("Unpack into a folder"))
        if folder is not None:
            card.show_folder(folder / card.look.folder.name)

    def _merge_text(self) -> str:
        """`Merge into trip`; "" without a writable project."""
        info = self._session.info
        can_merge = self._shell.registry.action("merge_copy").isEnabled()
        return tr("Merge into {1}", shown(info.name)) if info is not None and can_merge else ""

    def _merge(self) -> None:
        if self._archive is not None:
            self.made_card().dismiss()
            self._shell.copy_given.emit(self._archive)

    # -- unpacking

    def _unpack(self) -> None:
        card = self.made_card()
        if card.look is None or self._unpacking.is_busy:
            return
        from app.archives.wording import job_title

        look, caches = card.look, self._session.caches
        self._settled.stop()
        self._looking.abandon()

        def unpack(on_progress: OnProgress, cancel: CancelToken) -> UnpackedProject:
            from engine.archive.unpack import unpack_project

            return unpack_project(
                look.archive, look.folder, caches, on_progress=on_progress, cancel=cancel
            )

        card.show_unpacking(job_title(look))
        self._unpacking.start(
            job_title(look),
            unpack,
            lambda done: self._on_unpacked(done, look),
            self._on_failed,
            on_cancelled=self._on_failed,
        )

    def _on_failed(self, message: str = "") -> None:
        self.made_card().show_ended(sentence(message))

    def _on_unpacked(self, done: UnpackedProject, look: CopyLook) -> None:
        from app.archives.wording import opened_text

        self.made_card().show_ended()
        self.made_card().dismiss()
        self._opening = done.project, opened_text(done, look.facts)
        self._shell.open_soon(done.project)

    def _on_loaded(self) -> None:
        info, opening = self._session.info, self._opening
        if opening is None or info is None or info.path != opening[0]:
            return
        self._opening = None
        if opening[1]:
            self._toast.show_message(opening[1])
