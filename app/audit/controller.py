"""Random audits: sampling images, labelling them in the grid, and accuracy estimates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, final

import numpy as np

from app.actions.row import WRITE_FOR_GOOD, Section, action
from app.audit import wording
from app.feature import Feature
from app.session.subsets import ImageSet
from app.status.notice import Notice
from app.texts import marked, tr

if TYPE_CHECKING:
    from app.shell import Shell
    from engine.collection.live import LiveCollection
    from engine.evaluation.audit.checked import CheckedImages
    from engine.project import Change

TOPIC = "audit"


@final
class Auditing(Feature):
    """Start an audit or continue the latest one; its images form an image set in the grid."""

    guide_page = "report#check-some-at-random"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._images = shell.workspace
        self.notice = Notice(tone="")
        self.latest: CheckedImages | None = None
        self._shown: ImageSet | None = None
        self._images.footer.add(self.notice)
        self._images.grid.current_image_changed.connect(lambda _image_id: self._follow())
        self._images.content.currentChanged.connect(lambda _place: self._follow())
        self._session.loaded.connect(lambda: self._look(is_wanted=False))
        self._session.change_made.connect(self._on_change_made)
        self._session.closed.connect(self._on_closed)

    @action(
        "check_at_random",
        marked("Check 50 at random"),
        "target",
        "",
        Section.REVIEW_CHECK,
        needs=WRITE_FOR_GOOD,
    )
    def check(self) -> None:
        """Show the images of the open audit; start one if there is none."""
        self._look(is_wanted=True)

    def titles(self) -> Mapping[str, str]:
        return {"check_at_random": wording.command_text(is_begun=self._is_begun)}

    @property
    def _is_begun(self) -> bool:
        return self.latest is not None and not self.latest.figures.is_done

    def _look(self, *, is_wanted: bool) -> None:
        self._session.ask(
            _latest_of, partial(self._on_latest, is_wanted=is_wanted), owner=self, topic=TOPIC
        )

    def _on_latest(self, latest: CheckedImages | None, *, is_wanted: bool) -> None:
        self.latest = latest
        self._shell.needs_changed.emit()
        if is_wanted and self._is_begun:
            self._show_images()
        elif is_wanted:
            self._draw()
        else:
            self._update_notice()

    def _draw(self) -> None:
        from engine.evaluation.audit.draw import draw_audit

        state = self._session.state
        if state is not None:
            random = np.random.default_rng()
            self._session.act(
                lambda project: draw_audit(state, random=random).add_to(project),
                on_done=lambda _change: self.check(),
            )

    def _show_images(self) -> None:
        if self.latest is not None:
            self._shown = ImageSet(
                self.latest.in_order,
                wording.title_text(),
                is_ordered=True,
                order_name=tr("In random order"),
            )
            self._images.show_images(self._shown)
            self._ask()

    # -- progress

    @property
    def _is_shown(self) -> bool:
        images = self._images.images
        return (
            self._shown is not None
            and images is not None
            and images.image_ids is self._shown.image_ids
        )

    def _update_notice(self) -> None:
        """Update the progress line, unless it was dismissed."""
        if self._is_shown and not self.notice.isHidden():
            self._ask()

    def _ask(self) -> None:
        latest = self.latest
        if latest is None:
            self.notice.hide()
            return
        answers = []
        if latest.figures.is_done and latest.more:
            answers.append((wording.more_text(latest.more), self._grow))
        self.notice.ask(wording.progress_line(latest.figures), answers)

    def _grow(self) -> None:
        latest = self.latest
        if latest is not None:
            size = latest.figures.asked + latest.more
            self._session.act(
                lambda project: project.audits.grow(latest.figures.audit_id, size),
                on_done=lambda _change: self.check(),
            )

    def _follow(self) -> None:
        """Show the progress line only with the images of the audit."""
        if not self._is_shown:
            self._shown = None
            self.notice.hide()

    def _on_change_made(self, change: Change) -> None:
        latest = self.latest
        if change.audits or (
            latest is not None and (change.graph_edits or latest.has_any(change.labelled))
        ):
            self._look(is_wanted=False)

    def _on_closed(self) -> None:
        self.latest, self._shown = None, None
        self.notice.hide()


def _latest_of(live: LiveCollection) -> CheckedImages | None:
    from engine.evaluation.audit.checked import latest_checked

    return latest_checked(live.project)
