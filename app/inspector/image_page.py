"""The inspector's page of one image: label, prediction, why."""

from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.controls import make_button, make_label
from app.images.pixels import fitted
from app.images.thumbnails import Thumbnails
from app.inspector.logic import Certainty, ImageFacts, ScoreRow, ShareRow
from app.inspector.page import Page
from app.inspector.rows import ScoreLine
from app.inspector.strip import ThumbnailStrip
from app.inspector.wording import (
    certainty_text,
    condition_text,
    label_origin,
    label_title,
    look_alikes_text,
    share_title,
    why_text,
    why_title,
)
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from engine.collection.state import CollectionState
    from engine.graph.category_graph import CategoryGraph

PICTURE_HEIGHT: Final = 208
TOPS_SHOWN: Final = 5
SHOTS_SHOWN: Final = 5


@final
class Picture(QWidget):
    """The image itself, fitted."""

    def __init__(self, path: Path, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._path = path
        self._thumbnails = thumbnails
        self.setFixedHeight(PICTURE_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(path.name)
        thumbnails.ready.connect(self._on_ready)

    def _on_ready(self, path: Path) -> None:
        if path == self._path:
            self.update()

    def sizeHint(self) -> QSize:
        """Ask for room."""
        return QSize(240, PICTURE_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the image with round corners on a sunken ground."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(self.rect()), 8, 8)
        painter.fillPath(shape, QColor(tokens().colours.sunken))
        picture = self._thumbnails.pixmap(self._path, max(self.width(), self.height()), self.devicePixelRatioF())
        if picture is not None:
            painter.setClipPath(shape)
            painter.drawPixmap(fitted(picture.size(), self.rect()), picture, QRectF(picture.rect()))


@final
class ImagePage(Page):
    """Everything about one image.

    Signals:
        label_requested: class id to label the image as.
        unlabel_requested: take the person's label off.
        image_requested: show this image in the grid.
        class_requested: show this class.
    """

    label_requested = Signal(int)
    unlabel_requested = Signal()
    image_requested = Signal(int)
    class_requested = Signal(int)

    def __init__(
        self, facts: ImageFacts, graph: "CategoryGraph", state: "CollectionState", thumbnails: Thumbnails
    ) -> None:
        super().__init__()
        self._facts = facts
        self._state = state
        self._thumbnails = thumbnails
        self.add(Picture(facts.path, thumbnails))
        name = make_label(facts.path.name, "strong", wraps=True)
        name.setToolTip(str(facts.path))
        self.add(name)
        self._add_label(graph)
        self._add_prediction()
        self._add_why()
        self.finish()

    def _add_label(self, graph: "CategoryGraph") -> None:
        facts = self._facts
        self.add_section(self.tr("Your label"))
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(make_label(label_title(graph, facts.label), "strong" if facts.label else "secondary"), 1)
        if facts.label is not None:
            layout.addWidget(make_button(self.tr("Remove"), self.unlabel_requested.emit, variant="flat"))
        self.add(row)
        if facts.label is not None:
            self.add_text(label_origin(facts.label), "caption")

    def _add_prediction(self) -> None:
        facts = self._facts
        self.add_section(self.tr("Prediction"))
        is_unknown = facts.certainty is Certainty.UNKNOWN
        self.add_text(certainty_text(facts))
        if is_unknown and facts.tops:
            self.add_text(condition_text(), "caption")
        if facts.safe is not None and facts.tops and facts.safe.class_id != facts.tops[0].class_id:
            self._add_line(facts.safe, tone="accent")
            self.add_text(self.tr("Most likely below it"), "caption")
        for row in facts.tops[:TOPS_SHOWN]:
            is_best = row is facts.tops[0] and not is_unknown
            self._add_line(row, tone="accent" if is_best else "muted", condition=condition_text() if is_unknown else "")

    def _add_line(self, row: ScoreRow, *, tone: str, condition: str = "") -> None:
        line = ScoreLine(row, tone=tone, condition=condition)
        line.chosen.connect(self.label_requested)
        self.add(line)

    def _add_why(self) -> None:
        text = why_text(self._facts)
        if not text:
            return
        self.add_section(why_title(self._facts))
        self.add_text(text)
        for share in self._facts.shares:
            self._add_share(share)
        following = look_alikes_text(self._facts)
        if following:
            self.add_text(following)
            self._add_strip(self._facts.look_alikes)

    def _add_share(self, share: ShareRow) -> None:
        class_id = -1 if share.class_id is None else share.class_id
        line = ScoreLine(ScoreRow(class_id, share_title(share), "", share.share), is_clickable=class_id >= 0)
        line.chosen.connect(self.class_requested)
        self.add(line)
        if share.image_ids:
            self._add_strip(share.image_ids)

    def _add_strip(self, image_ids: tuple[int, ...]) -> None:
        strip = image_strip(image_ids[:SHOTS_SHOWN], self._state, self._thumbnails, side=44)
        strip.image_clicked.connect(self.image_requested)
        self.add(strip)


def image_strip(
    image_ids: tuple[int, ...], state: "CollectionState", thumbnails: Thumbnails, *, side: int = 56, tip: str = ""
) -> ThumbnailStrip:
    """Thumbnails of images; those that left the project meanwhile are passed over."""
    images = []
    for image_id in image_ids:
        try:
            images.append((image_id, state.path_of(image_id)))
        except KeyError:
            continue
    return ThumbnailStrip(images, thumbnails, side=side, tip=tip)
