"""Compare selected images, or one image with examples of its two most likely classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, final

from app.actions.row import Needs, Section, action
from app.compare.keys import KEYS
from app.compare.logic import MOST, SHOTS, relation_text, rivals_of
from app.feature import Feature
from app.texts import marked, tr
from app.wording import number
from app.workspace.visits import Describes

if TYPE_CHECKING:  # keeps the start fast
    from PySide6.QtWidgets import QWidget

    from app.compare.view import ComparePage
    from app.compare.why_not import WhyNotPage
    from app.shell import Shell
    from engine.collection.live import LiveCollection

NEEDS = Needs.PROJECT | Needs.IMAGES


@final
class Comparing(Feature):
    """Open the compare pages and keep them up to date."""

    guide_page = "labelling#compare-images"
    page_keys = (KEYS,)

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.page: ComparePage | None = None
        self.why_not: WhyNotPage | None = None
        self._known_dates: Mapping[int, datetime] = {}
        self._asked_for = -1  # image whose nearest shots were requested
        self._workspace, self._current_card = shell.workspace, shell.session.current_card
        self._workspace.page_left.connect(self._on_page_left)
        for news in (
            self._session.state_changed,
            self._current_card.changed,
            self._session.guesses.arrived,
        ):
            news.connect(self._show_known)
        self._workspace.grid.current_image_changed.connect(lambda _image_id: self._show_why_not())

    @action(
        "compare",
        marked("Compare images"),
        "compare",
        "C",
        Section.IMAGES_LIKE,
        needs=NEEDS,
        on_images=True,
    )
    def compare(self) -> None:
        """Show the selected images side by side; go back if a compare page is open."""
        if self.page is not None or self.why_not is not None:
            self._workspace.go_back()
            return
        chosen = self._workspace.active_images.chosen_ids
        if len(chosen) > 1:
            self._compare(chosen)
        elif chosen:
            self._ask_why_not()

    # -- two to four images

    def _compare(self, chosen: Sequence[int]) -> None:
        from app.compare.view import ComparePage

        if len(chosen) > MOST:
            self._toast.show_message(
                tr("Up to 4 images are compared: the first 4 of {1}.", number(len(chosen)))
            )
        current = self._workspace.active_images.current_id
        page = self.page = ComparePage(chosen[:MOST], -1 if current is None else current)
        self._set_up(page)
        page.current_changed.connect(self._on_current_changed)
        self._workspace.show_page(page, tr("Compare images"), Describes.LARGE_IMAGE)
        self._workspace.active_images.take(page)
        self._on_current_changed(page.current_id or -1)
        self._show_known()
        self._ask_dates(page.image_ids)

    def _set_up(self, page: QWidget) -> None:
        self.link_guide_page(page)
        self._shell.registry.act_in(page)

    def _on_current_changed(self, image_id: int) -> None:
        """Make the framed image the target of the inspector and of keys."""
        self._session.guesses.want([image_id])
        self._current_card.look_at(image_id)
        self._shell.inspector.show_image(image_id)
        self._shell.needs_changed.emit()

    def _ask_dates(self, image_ids: Sequence[int]) -> None:
        self._session.ask(
            lambda live: _dates(live, image_ids),
            self._on_dates,
            owner=self,
            topic="dates of compared images",
        )

    def _on_dates(self, dates: Mapping[int, datetime]) -> None:
        if self.page is not None:
            self.page.show_dates(dates)
        self._known_dates = dates
        self._show_known()

    def _show_known(self, *_news: object) -> None:
        if self.page is not None and not self.page.show_cards(self._workspace.model.card_of):
            self._workspace.close_page(self.page)  # an image was removed
        self._show_why_not()

    # -- one image

    def _ask_why_not(self) -> None:
        from app.compare.why_not import WhyNotPage

        page = self.why_not = WhyNotPage()
        self._set_up(page)
        page.class_chosen.connect(self._on_class_chosen)
        page.step_requested.connect(self._workspace.step)
        self._workspace.show_page(page, tr("Why not the other?"), Describes.LARGE_IMAGE)
        self._show_why_not()

    def _show_why_not(self) -> None:
        """Show the current card of the grid, which keys act on."""
        page, image_id = self.why_not, self._workspace.grid.current_id
        if page is None:
            return
        card = None if image_id is None else self._workspace.model.card_of(image_id)
        if card is None:
            self._workspace.close_page(page)
            return
        if card.image_id != page.image_id:
            self._ask_dates((card.image_id,))
            self._shell.inspector.show_image(card.image_id)
        page.show_image(card, self._known_dates.get(card.image_id))
        graph = self._session.graph
        rivals = rivals_of(graph, self._current_card.ranking(card.image_id))
        is_new = [rival.class_id for rival in rivals] != [rival.class_id for rival in page.rivals]
        page.show_rivals(
            rivals,
            relation_text(graph, rivals),
            "" if rivals else tr("There is no prediction yet: label an image of some class first."),
        )
        if rivals and (is_new or self._asked_for != card.image_id):
            self._ask_shots(card.image_id, [rival.class_id for rival in rivals])

    def _ask_shots(self, image_id: int, class_ids: Sequence[int]) -> None:
        self._asked_for = image_id
        self._session.ask(
            lambda live: {
                class_id: live.nearest_shots(image_id, class_id, SHOTS) for class_id in class_ids
            },
            lambda found: self._on_shots(image_id, found),
            owner=self,
            topic="nearest shots",
        )

    def _on_shots(self, image_id: int, found: Mapping[int, Sequence[int]]) -> None:
        page, model = self.why_not, self._workspace.model
        if page is not None and page.image_id == image_id:
            cards = {
                class_id: [model.card_of(shot) for shot in shots]
                for class_id, shots in found.items()
            }
            page.show_shots(
                {
                    class_id: [(card.image_id, card.path) for card in known if card is not None]
                    for class_id, known in cards.items()
                }
            )

    def _on_class_chosen(self, class_id: int) -> None:
        if self.why_not is not None:
            self._shell.inspector.requests.label_requested.emit(self.why_not.image_id, class_id)

    # -- leaving

    def _on_page_left(self, page: QWidget) -> None:
        from app.compare.page import ComparedPage

        if not isinstance(page, ComparedPage) or page not in (self.page, self.why_not):
            return
        if page is self.page:
            self._workspace.active_images.take(None)
        self.page = self.why_not = None
        page.abandon()
        self._workspace.content.removeWidget(page)
        page.deleteLater()

    def stop(self) -> None:
        for page in (self.page, self.why_not):
            if page is not None:
                page.stop()


def _dates(live: LiveCollection, image_ids: Sequence[int]) -> dict[int, datetime]:
    """Capture dates of images where known; runs on the project thread."""
    details = live.project.details.of_many(image_ids)
    return {
        image_id: found.taken_at
        for image_id, found in details.items()
        if found.taken_at is not None
    }
