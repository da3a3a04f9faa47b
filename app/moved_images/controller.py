"""Moved images, searched in a side panel, and replaced images, whose files have another photo."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.actions.row import WRITE, WRITE_FOR_GOOD, Needs, Section, action
from app.feature import PanelFeature
from app.file_dialogs import Purpose, choose_folder
from app.jobs.slot import JobSlot
from app.moved_images.file_checks import MissingImages, WrittenImages
from app.moved_images.wording import missing_line
from app.texts import marked, plural, tr
from app.wording import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.moved_images.view import MovedImagesPanel
    from app.shell import Shell
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.events import CancelToken, OnProgress, Progress
    from engine.project import Change, Project
    from engine.relink.records import KnownImages, RelinkPlan

KNOWN = "known images"
REPLACED = "replaced"  # search term for replaced images
ON_CARDS = WRITE | Needs.IMAGES
LONGEST_UNASKED_S = 60.0
"""Time limit of an automatic search. Chosen: enough to list the folders of a disk."""


@final
class MovedImages(PanelFeature["MovedImagesPanel"]):
    """Search for moved images on a thread, and apply the result in one step."""

    guide_page = "keeping#images-that-were-moved"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.missing_images = MissingImages(self._session, self._thumbnails)
        self.plan: RelinkPlan | None = None
        self._embedding = shell.embedding
        self._notice, self._replaced_notice = (
            shell.workspace.missing_notice,
            shell.workspace.replaced_notice,
        )
        self._searching = JobSlot(self._session.jobs, keeps_finished=False)
        self._is_unasked = False  # whether the search started automatically
        self.written_images = WrittenImages(self._session)
        self.written_images.found.connect(self._on_written_to)
        self._replaced: frozenset[int] = frozenset()  # images with an outdated label
        self._session.state_changed.connect(self._on_state_changed)
        shell.inspector.requests.confirm_requested.connect(
            lambda image_id: self._confirm((image_id,))
        )
        self.missing_images.missing_changed.connect(self._on_missing_changed)
        self.missing_images.reappeared.connect(self._on_reappeared)
        self._session.closed.connect(self._on_closed)
        self._session.change_made.connect(self._on_change_made)

    def stop(self) -> None:
        self.missing_images.stop()
        self.written_images.stop()

    @action(
        "read_images",
        marked("Analyse waiting images"),
        "refresh",
        "F5",
        Section.IMAGES_FILES,
        needs=WRITE_FOR_GOOD,
    )
    def read_images(self) -> None:
        self._thumbnails.forget_failures()
        self.missing_images.look()
        self.written_images.look()
        self._embedding.start_again()

    @action(
        "show_replaced",
        marked("Show replaced images"),
        "search",
        "",
        Section.IMAGES_REPLACED,
        needs=Needs.PROJECT,
    )
    def show_replaced(self) -> None:
        """Search for labelled images whose files have another photo."""
        self._replaced_notice.hide()
        search = self._shell.workspace.search_bar
        search.open()
        search.show_text(REPLACED)

    @action(
        "confirm_replaced",
        marked("Keep the label of a replaced image"),
        "check",
        "",
        Section.IMAGES_REPLACED,
        needs=ON_CARDS,
        on_images=True,
    )
    def confirm_replaced(self) -> None:
        self._confirm(self._chosen_replaced())

    @action(
        "ask_again",
        marked("Remove the label of a replaced image"),
        "refresh",
        "",
        Section.IMAGES_REPLACED,
        needs=ON_CARDS,
        on_images=True,
    )
    def ask_again(self) -> None:
        """Remove outdated labels."""
        if chosen := self._chosen_replaced():
            self._shell.workspace.hold()
            self._session.unlabel(chosen)

    def _chosen_replaced(self) -> Sequence[int]:
        return [
            each
            for each in self._shell.workspace.active_images.chosen_ids
            if each in self._replaced
        ]

    def _confirm(self, image_ids: Sequence[int]) -> None:
        if image_ids:
            self._shell.workspace.hold()
            self._session.act(lambda project: project.labels.confirm(image_ids))

    def _on_written_to(self, image_ids: frozenset[int]) -> None:
        state = self._session.state
        if state is not None:
            known = image_ids.intersection(state.image_ids.tolist())
            self._thumbnails.forget({state.path_of(each) for each in known})
            self._embedding.read_again(known)

    def _on_state_changed(self, state: CollectionState | None) -> None:
        """Show a notice about newly replaced images; a dismissed one returns only for more."""
        before = self._replaced
        self._replaced = frozenset() if state is None else frozenset(state.outdated)
        if not self._replaced:
            self._replaced_notice.hide()
        elif self._replaced - before:
            self._replaced_notice.ask(
                plural(
                    len(self._replaced),
                    "1 labelled image was replaced by a different photo.",
                    "{n} labelled images were replaced by different photos.",
                ),
                [(tr("Show them"), self.show_replaced)],
            )

    @action(
        "find_moved_images",
        marked("Find moved images…"),
        "search",
        "",
        Section.IMAGES_REPLACED,
        needs=WRITE_FOR_GOOD,
    )
    def open_panel(self) -> None:
        self.made_panel()
        self._notice.hide()
        self._show_missing()
        panel = self.show_panel()
        if self._searching.is_busy:
            self._is_unasked = False
            panel.show_searching(None)
        elif self.plan is not None and self._session.info is not None:
            panel.show_plan(self.plan, self._session.info.path.parent)
        self.missing_images.look()

    def make_panel(self) -> MovedImagesPanel:
        from app.moved_images.view import MovedImagesPanel

        panel = MovedImagesPanel()
        panel.folder_wanted.connect(self._choose_folder)
        panel.search_requested.connect(lambda: self.find(None))
        panel.progress.cancel_requested.connect(self._searching.cancel)
        self._searching.progressed.connect(panel.progress.show_progress)
        panel.apply_requested.connect(self.apply)
        return panel

    def _choose_folder(self) -> None:
        folder = choose_folder(self.panel, Purpose.MOVED_IMAGES, tr("Where are the images now?"))
        if folder is not None:
            self.find(folder)

    def find(self, folder: Path | None) -> None:
        """Search a folder for moved images; None: next to the project."""
        if self._searching.is_busy or self._session.info is None:
            return
        self.plan, self._is_unasked = None, not self.is_panel_shown
        if self.panel is not None:
            self.panel.show_searching(folder)
        self._session.ask(
            _known_images, lambda known: self._search(known, folder), owner=self, topic=KNOWN
        )

    def _search(self, known: KnownImages, folder: Path | None) -> None:
        until_s = time.monotonic() + LONGEST_UNASKED_S if self._is_unasked else math.inf

        def search(on_progress: OnProgress, cancel: CancelToken) -> RelinkPlan:
            from engine.errors import Cancelled
            from engine.relink.find import find_moved

            def go_on(progress: Progress) -> None:
                if time.monotonic() > until_s:
                    raise Cancelled
                on_progress(progress)

            return find_moved(known, folder, on_progress=go_on, cancel=cancel)

        self._searching.start(
            tr("Searching for moved images"),
            search,
            lambda plan: self._on_found(plan, known.project.parent),
            self._on_not_found,
            on_cancelled=self._on_not_found,
        )

    def _on_found(self, plan: RelinkPlan, folder: Path) -> None:
        """Show the result; apply a certain result of an automatic search as an undoable step."""
        if self._session.info is None:
            return
        self.plan = plan
        if self.is_panel_shown and self.panel is not None:
            self.panel.show_plan(plan, folder)
        elif self._is_unasked and plan.is_sure:
            self.apply()
        else:
            self._ask_about_missing()

    def _on_not_found(self, reason: str = "") -> None:
        if self.panel is not None:
            self.panel.show_idle(reason)
        self._ask_about_missing()

    def apply(self) -> None:
        """Update the paths in one step."""
        plan, caches = self.plan, self._session.caches
        if plan is None:
            return
        self.plan = None
        if self.panel is not None:
            self.panel.show_idle()

        def update_paths(project: Project) -> Change:
            from engine.relink.find import relink

            return relink(project, plan, caches)

        self._session.act(
            update_paths,
            on_done=lambda _change: self._embedding.look_at_all() if plan.changed else None,
        )

    def _on_missing_changed(self, missing: frozenset[int]) -> None:
        self._shell.workspace.show_missing(missing)
        self._show_missing()
        if (
            missing
            and self.missing_images.looks == 1
            and not self.is_panel_shown
            and self._may_search
        ):
            self.find(None)
        else:
            self._ask_about_missing()

    @property
    def _may_search(self) -> bool:
        """Whether the open project may be changed automatically; a backup may not."""
        from engine.project.backups.place import read_name

        info = self._session.info
        return info is not None and info.is_writable and read_name(info.path) is None

    def _ask_about_missing(self) -> None:
        """Show a notice about missing images, or about the ones found."""
        missing, found = (
            len(self.missing_images.missing),
            0 if self.plan is None else len(self.plan.moves),
        )
        if not missing or self.is_panel_shown or self._session.info is None:
            self._notice.hide()
        elif found:
            self._notice.ask(
                plural(
                    missing,
                    "{1} of 1 missing image found.",
                    "{1} of {n} missing images found.",
                    number(found),
                ),
                [(tr("Show them"), self.open_panel)],
            )
        else:
            self._notice.ask(missing_line(missing), [(tr("Find them…"), self.open_panel)])

    def _show_missing(self) -> None:
        if self.panel is not None and self._session.info is not None:
            self.panel.show_missing(
                len(self.missing_images.missing), is_writable=self._session.is_writable
            )

    def _on_reappeared(self) -> None:
        """Retry images that failed while they were missing."""
        state = self._session.state
        if state is not None and state.has_failed.any():
            self._embedding.start_again()

    def _on_change_made(self, change: Change) -> None:
        """Discard the preview after images have moved."""
        if change.images_moved and self.plan is not None:
            self.plan = None
            if self.panel is not None:
                self.panel.show_idle()

    def _on_closed(self) -> None:
        self._searching.cancel()
        self.plan = None
        if self.panel is not None:
            self.panel.show_idle()
            self.close_panel()


def _known_images(live: LiveCollection) -> KnownImages:
    from engine.relink.find import known_images

    return known_images(live.project)
