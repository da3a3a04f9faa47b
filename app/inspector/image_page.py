"""The inspector page of one image: prediction, explanation, label, notes and file information."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.actions.keys import keys_in_use
from app.controls import ElidedLabel, fill_column, make_button, make_icon_button, make_row
from app.images.pixels import fitted
from app.images.strip import ThumbnailStrip
from app.images.thumbnails import Thumbnails
from app.inspector.about_file import AboutFile
from app.inspector.fields import FieldSection
from app.inspector.logic import DIGITS, Certainty, ImageFacts, ScoreRow, ShareRow, shared_values
from app.inspector.notes import NoteSection
from app.inspector.page import Fold, Page, PagePart, PageRequests, Paragraph, ScoreLine
from app.inspector.wording import (
    certainty_text,
    label_origin,
    label_title,
    learned_text,
    outdated_title,
    reason_text,
    share_title,
    why_title,
    within_text,
)
from app.painting import colour_of, smooth_painter
from app.settings import Settings
from app.texts import tr
from app.wording import image_name, images
from engine.file_parts import ImageSource
from engine.image_fields import COUNT

if TYPE_CHECKING:
    from engine.collection.state import CollectionState
    from engine.graph.category_graph import CategoryGraph
    from engine.project.records import Label


SHOTS_SHOWN = 5
SIDE = 52  # logical pixels: five of them fill the pane at its default width


@final
class Why(QWidget):
    """The explanation of one prediction: similar images, with shares in a collapsible section.

    Its widgets are reused.
    """

    def __init__(self, thumbnails: Thumbnails, requests: PageRequests, settings: Settings) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._requests = requests
        self._part = PagePart("")
        self._reason = self._part.add_text()
        self._alike = self._make_strip()
        self._part.add(self._alike)
        self._details = Fold("image/details", tr("Details"), settings, requests, has_line=False)
        self._learned = self._details.body.add_text()
        self._shares: list[_Share] = []
        self._part.add(self._details)
        fill_column(self, self._part)

    def show_facts(self, facts: ImageFacts, state: CollectionState) -> None:
        reason = reason_text(facts)
        self.setVisible(bool(reason))
        self._part.show_title(why_title(facts))
        self._reason.show_text(reason)
        self._alike.show_images(facts.alike[:SHOTS_SHOWN], state)
        self._details.setVisible(bool(facts.shares))
        self._learned.show_text(learned_text(facts))
        while len(self._shares) < len(facts.shares):
            self._shares.append(_Share(self._details.body, self._make_strip()))
            self._shares[-1].line.chosen.connect(self._requests.class_requested)
        for place, share in enumerate(self._shares):
            share.show_share(facts.shares[place] if place < len(facts.shares) else None, state)

    def _make_strip(self) -> ThumbnailStrip:
        strip = ThumbnailStrip(self._thumbnails, side=SIDE)
        strip.image_clicked.connect(self._requests.image_requested)
        return strip


@final
class _Share:
    """A source of a prototype with its share and images."""

    def __init__(self, column: Page, strip: ThumbnailStrip) -> None:
        self.line, self._strip = ScoreLine(), strip
        column.add(self.line)
        column.add(strip)

    def show_share(self, share: ShareRow | None, state: CollectionState) -> None:
        self.line.setVisible(share is not None)
        self._strip.show_images(share.image_ids[:SHOTS_SHOWN] if share else (), state)
        if share is not None:
            class_id = -1 if share.class_id is None else share.class_id
            row = ScoreRow(class_id, share_title(share), "", share.share)
            self.line.show_row(row, is_clickable=class_id >= 0, is_share=True)


@final
class ImagePage(Page):
    """The page of an image; created once, so that classes keep their positions between images."""

    row_chosen = Signal(int)  # class id
    news_requested = Signal()  # show the pending predictions

    def __init__(self, thumbnails: Thumbnails, requests: PageRequests, settings: Settings) -> None:
        super().__init__()
        self._image_id = -1
        self.picture = Picture(thumbnails)
        self.add(self.picture)
        self._name = ElidedLabel("strong", mode=Qt.TextElideMode.ElideMiddle)
        self.add(self._name)
        self.notes = NoteSection(requests)
        self.add(self.notes)
        self.label = LabelLine(
            on_remove=lambda: requests.unlabel_requested.emit(self._image_id),
            on_confirm=lambda: requests.confirm_requested.emit(self._image_id),
        )
        self.add(self.label)
        self._certainty = Paragraph("strong")
        self._news = make_icon_button(
            "refresh", tr("Show the updated prediction"), self.news_requested.emit
        )
        self._news.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        policy = self._news.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._news.setSizePolicy(policy)
        self.add_row(self._certainty, self._news)
        self._safe = self._add_line()
        self._below = self.add_text(role="caption")
        self._tops = [self._add_line() for _ in range(DIGITS)]
        self._add_fields(requests)
        self._why = Why(thumbnails, requests, settings)
        self.add(self._why)
        file = Fold("image/file", tr("About this file"), settings, requests)
        self.about = AboutFile(requests)
        self.about.summarised.connect(file.show_summary)
        file.body.add(self.about)
        self.add(file)
        self.prepare = self.picture.prepare

    def _add_fields(self, requests: PageRequests) -> None:
        self._fields_title = ElidedLabel("section")
        self._define = make_icon_button(
            "settings", tr("Fields of the project…"), requests.fields_wanted.emit
        )
        self._define.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._fields_head = make_row(self._fields_title, self._define, grows=0)
        self.add(self._fields_head)
        self.fields = FieldSection(requests)
        self.add(self.fields)

    def show_facts(
        self,
        facts: ImageFacts,
        graph: CategoryGraph,
        state: CollectionState,
        *,
        chosen_ids: Sequence[int] = (),
        has_news: bool = False,
        is_writable: bool = True,
    ) -> None:
        self._image_id = facts.image_id
        self._news.setVisible(has_news)
        self.picture.show_image(facts.source)
        self._name.show_text(image_name(facts.source), tip=str(facts.source.path))
        self.notes.show_note(
            facts.image_id, state.notes.get(facts.image_id), is_writable=is_writable
        )
        self.show_fields(chosen_ids, state, is_writable=is_writable)
        self.about.show_path(facts.source.path)
        if (outdated := state.outdated.get(facts.image_id)) is None:
            self.label.show_label(label_title(graph, facts.label), facts.label)
        else:
            self.label.ask(outdated_title(graph, outdated), outdated, is_writable=is_writable)
        self._show_prediction(facts, graph)
        self._why.show_facts(facts, state)

    def show_fields(
        self, chosen_ids: Sequence[int], state: CollectionState, *, is_writable: bool
    ) -> None:
        """Show the fields of the selected images, or of the displayed one where it is not selected.

        Hidden in a project without fields and counts.
        """
        has_fields = bool(state.fields or state.field_values)
        self._fields_head.setVisible(has_fields)
        self._define.setVisible(is_writable)
        if not has_fields:
            self.fields.show_values(self._image_id, (), {}, is_writable=is_writable)
            return
        ids = chosen_ids if self._image_id in chosen_ids else (self._image_id,)
        title = tr("Fields of {1}", images(len(ids))) if len(ids) > 1 else tr("Fields")
        self._fields_title.show_text(title)
        values = shared_values(state.field_values, ids)
        self.fields.show_values(
            self._image_id, (COUNT, *state.fields), values, is_writable=is_writable
        )

    def _add_line(self) -> ScoreLine:
        line = ScoreLine()
        line.chosen.connect(self.row_chosen)
        self.add(line)
        return line

    def _show_prediction(self, facts: ImageFacts, graph: CategoryGraph) -> None:
        """Show the most likely classes.

        Without percentages for an unknown image: they would suggest certainty.
        """
        is_unknown = facts.certainty is Certainty.UNKNOWN
        condition = tr("Closest classes:") if is_unknown else ""
        self._certainty.show_text(certainty_text(facts, graph))
        self._safe.setVisible(facts.is_coarse)
        if facts.is_coarse and facts.safe is not None:
            self._safe.show_row(facts.safe, key=keys_in_use().short_text_of("accept"))
        below = within_text(facts) if facts.is_coarse else condition
        self._below.show_text(below if facts.tops else "")
        for place, line in enumerate(self._tops):
            line.setVisible(place < len(facts.tops))
            if place < len(facts.tops):
                tone = "accent" if place == 0 else "muted"
                line.show_row(
                    facts.tops[place], tone=tone, has_score=not is_unknown, condition=condition
                )


@final
class LabelLine(QWidget):
    """The label with annotator, time and a button that removes it; fixed height.

    For an outdated label it asks whether it applies to the current photo.
    """

    def __init__(self, *, on_remove: Callable[[], None], on_confirm: Callable[[], None]) -> None:
        super().__init__()
        self._title, self._origin = ElidedLabel("secondary"), ElidedLabel("caption")
        self._question = Paragraph()
        self.confirm = make_button(tr("Keep label"), on_confirm)
        self.remove = make_button(tr("Remove label"), on_remove, variant="flat")
        self._answers = make_row(self.confirm, None)
        for button in (self.confirm, self.remove):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        words = QWidget()
        fill_column(words, self._title, self._origin, spacing=0).setAlignment(
            Qt.AlignmentFlag.AlignVCenter
        )
        line = make_row(words, self.remove, grows=0)
        fill_column(self, line, self._question, self._answers)
        self._answers.hide()

    def show_label(self, title: str, label: Label | None) -> None:
        words = self._title.sizeHint().height() + self._origin.sizeHint().height()
        self.setMinimumHeight(max(words, self.remove.sizeHint().height()))
        self._title.show_text(title, role="strong" if label else "secondary")
        self._origin.setVisible(label is not None and bool(label.who))
        self._origin.show_text(label_origin(label) if label and label.who else "")
        self.remove.setVisible(label is not None)
        self._question.show_text("")
        self._answers.hide()

    def ask(self, title: str, outdated: Label, *, is_writable: bool) -> None:
        """Show the label of a replaced photo, and ask whether it applies to the current one."""
        self.show_label(title, outdated)
        self._title.show_text(title, role="secondary")
        self.remove.setVisible(is_writable)
        self._question.show_text(
            tr("The file now holds a different photo, so this label no longer counts.")
        )
        self._answers.setVisible(is_writable)


PICTURE_HEIGHT = 168
"""Logical pixels, the same for every image. Chosen: the height of a 16:9 photo at the pane's
default width."""


@final
class Picture(QWidget):
    """A fitted image with rounded corners."""

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._source: ImageSource | None = None
        self._thumbnails = thumbnails
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(PICTURE_HEIGHT)
        thumbnails.ready.connect(self._on_ready)

    def show_image(self, source: ImageSource) -> None:
        self._source = source
        self.setAccessibleName(image_name(source))
        self.update()  # also of the same image: a repaint requests a thumbnail that failed

    def prepare(self, sources: Sequence[ImageSource]) -> None:
        """Preload the pictures of the next images, once the display size is known."""
        if not self.isVisible():
            return
        for source in reversed(sources):  # the newest request is served first
            self._request(source)

    def _request(self, source: ImageSource) -> QPixmap | None:
        return self._thumbnails.pixmap(
            source, max(self.width(), self.height()), self.devicePixelRatioF()
        )

    def _on_ready(self, source: ImageSource) -> None:
        if source == self._source:
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, PICTURE_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = smooth_painter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(self.rect()), 8, 8)
        painter.fillPath(shape, colour_of("sunken"))
        if self._source is None:
            return
        picture = self._request(self._source) or self._thumbnails.placeholder(self._source)
        if picture is not None:
            painter.setClipPath(shape)
            painter.drawPixmap(fitted(picture.size(), self.rect()), picture, QRectF(picture.rect()))
