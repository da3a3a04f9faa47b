"""Folding of duplicates and bursts, one of each, and the best of each burst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from app.actions.row import WRITE, Needs, Section, action
from app.feature import Feature
from app.folding.finding import FoldFinding
from app.palette.logic import PaletteRow
from app.session.subsets import ImageSet
from app.status.notice import Notice
from app.texts import fill, marked, plural, tr
from app.wording import images, on_one_line
from engine.graph.codes import NO_CLASS

if TYPE_CHECKING:
    from app.session import ProjectInfo
    from app.shell import Shell
    from engine.collection.live import LiveCollection
    from engine.project import Change

# Chosen: from a burst to a visit at a camera trap.
OFFERED_SECONDS = (
    0,
    1,
    2,
    5,
    10,
    30,
    60,
    120,
    300,
)
MOST_SECONDS = 86_400  # one day


@final
class Folding(Feature):
    """Controller of folding and actions on folds."""

    guide_page = "labelling#duplicates-and-bursts"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._images = shell.workspace
        self.finding = FoldFinding(self._session, self)
        self.finding.found.connect(self._on_found)
        self.question = Notice(tone="")
        self._was_offered = False  # since the project was opened
        shell.workspace.footer.add(self.question)
        self._session.opened.connect(self._on_opened)
        self._session.closed.connect(self.question.hide)
        self._session.change_made.connect(self._on_change_made)

    def titles(self) -> Mapping[str, str]:
        return {
            "fold_images": tr("Unfold all duplicates and bursts")
            if self._images.folds.is_on
            else tr("Fold duplicates and bursts")
        }

    def stop(self) -> None:
        self.finding.stop()

    def _on_opened(self, info: ProjectInfo) -> None:
        is_folding = self._settings.is_folding(info.project_id)
        self.finding.is_wanted = is_folding
        self._was_offered = False
        self._images.folds.switch(is_folding)
        self._shell.needs_changed.emit()

    def _on_found(self) -> None:
        """Ask once, before the first label, whether to fold: cards in use are not regrouped."""
        state = self._session.state
        if (
            state is None
            or self._was_offered
            or not (self._images.folds.has_others and state.folds.count)
        ):
            return
        if (state.label_class == NO_CLASS).all():
            self._was_offered = True
            answers = [
                (tr("Fold"), self._images.folds.apply),
                (tr("Keep apart"), self.switch_folding),
            ]
            self.question.ask(folds_found(state.folds.folded_images, state.folds.count), answers)

    def _on_change_made(self, change: Change) -> None:
        if change.labelled:
            self.question.hide()

    @action(
        "toggle_fold",
        marked("Expand group"),
        "stack",
        "B",
        Section.VIEW_FOLDS,
        needs=Needs.PROJECT | Needs.IMAGES,
        on_images=True,
    )
    def toggle_fold(self) -> None:
        image_id = None if self._images.active_images.is_page else self._images.grid.current_id
        if image_id is not None and not self._images.folds.toggle(image_id):
            self._toast.show_message(tr("This image has no duplicates and is in no burst."))

    @action("fold_images", marked("Fold duplicates and bursts"), "stack", "", Section.VIEW_FOLDS)
    def switch_folding(self) -> None:
        info, is_folding = self._session.info, not self._images.folds.is_on
        if info is not None:
            self._settings.remember_folding(info.project_id, is_folding=is_folding)
            self.finding.is_wanted = is_folding
            self._images.folds.switch(is_folding)
            self._shell.needs_changed.emit()

    @action(
        "one_of_each",
        marked("Show one of each duplicate and burst"),
        "stack",
        "",
        Section.VIEW_FOLDS,
    )
    def show_one_of_each(self) -> None:
        state = self._session.state
        if state is not None:
            self._images.show_images(
                ImageSet(state.folds.one_of_each(state.image_ids), tr("One of each"))
            )

    @action(
        "best_of_bursts", marked("Show the best of each burst"), "stack", "", Section.VIEW_FOLDS
    )
    def show_best_of_bursts(self) -> None:
        """Show the sharpest image of each burst, after fingerprints have been computed."""
        state = self._session.state
        if state is None:
            return
        if not len(state.folds.in_sequences()):
            self._toast.show_message(
                tr(
                    "There are no bursts: no two photos of one camera were taken within the time "
                    "that is set."
                )
            )
        else:
            self.finding.look(self._show_best)

    def _show_best(self) -> None:
        state = self._session.state
        best = () if state is None else state.folds.best_of_sequences()
        if len(best):
            self._images.show_images(ImageSet(np.asarray(best), tr("Best of each burst")))

    @action(
        "burst_seconds",
        marked("Maximum gap in a burst…"),
        "clock",
        "",
        Section.VIEW_FOLDS,
        needs=WRITE,
    )
    def choose_seconds(self) -> None:
        self._session.ask(_seconds_of, self._ask_for_seconds, owner=self, topic="burst seconds")

    def _ask_for_seconds(self, now: int) -> None:
        usual = sorted({*OFFERED_SECONDS, now})

        def rows_for(text: str) -> Sequence[PaletteRow]:
            typed = [min(int(text), MOST_SECONDS)] if text.isascii() and text.isdigit() else []
            current = {now: tr("current")}
            return [
                PaletteRow(seconds_text(each), current.get(each, ""), "", "clock", each)
                for each in (typed if text.strip() else usual)
            ]

        prompt = tr("Maximum gap in a burst, in seconds")
        self._palette.ask(prompt, rows_for, self._set_seconds, at=usual.index(now))

    def _set_seconds(self, seconds: int) -> None:
        from engine.collection.find_folds import set_burst_seconds

        self._session.act(lambda project: set_burst_seconds(project, seconds))


def folds_found(image_count: int, folds: int) -> str:
    """`88 images are duplicates or bursts, in 43 groups`, as a sentence."""
    groups = plural(folds, "{n} group", "{n} groups")
    return fill(tr("{1} are duplicates or bursts, in {2}."), images(image_count), groups)


def seconds_text(seconds: int) -> str:
    if seconds == 0:
        return tr("No bursts")
    return on_one_line(plural(seconds, "1 second", "{n} seconds"))


def _seconds_of(live: LiveCollection) -> int:
    from engine.collection.find_folds import burst_seconds

    return burst_seconds(live.project)
