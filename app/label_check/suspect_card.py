"""View of a suspect label: image, examples of both classes, reason and buttons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.actions.keys import short_key
from app.actions.page_keys import PageKey, PageKeys
from app.controls import ElidedLabel, fill_column, fill_row, make_button, make_flowing_label
from app.image_view.canvas import ImageCanvas
from app.images.strip import ThumbnailStrip
from app.images.thumbnails import Thumbnails
from app.label_check import wording
from app.texts import marked, plain_button, plain_tip, tr, with_breaks
from app.theme.tokens import tokens
from app.wording import image_name, in_sentences, probability_text
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from engine.collection.state import CollectionState
    from engine.project import Label
    from engine.review.label_check import SuspectLabel

FACE = 60  # side of a similar image, in pixels
LEAST_IMAGE = 120  # minimum height of the image in a low window, in pixels
_DIGIT_TEXTS = (
    marked("Label as the most likely class"),
    marked("Label as the 2nd most likely class"),
    marked("Label as the 3rd most likely class"),
    marked("Label as the 4th most likely class"),
    marked("Label as the 5th most likely class"),
    marked("Label as the 6th most likely class"),
    marked("Label as the 7th most likely class"),
    marked("Label as the 8th most likely class"),
    marked("Label as the 9th most likely class"),
)
KEYS = PageKeys(
    "check_labels",
    marked("Check labels"),
    (
        PageKey("relabel", marked("Relabel as proposed"), "Return Enter"),
        PageKey("keep", marked("Keep the label"), "K"),
        PageKey("later", marked("Ask later"), "L E"),
        PageKey("other", marked("Other class…"), "R"),
        PageKey("unknown", marked("None of the classes"), "U"),
        PageKey("remove", marked("Remove label"), "X"),
        PageKey("next", marked("Next label"), "Down PgDown"),
        PageKey("previous", marked("Previous label"), "Up PgUp"),
        *(
            PageKey(f"digit_{digit}", text, str(digit))
            for digit, text in enumerate(_DIGIT_TEXTS, start=1)
        ),
    ),
)


@final
class ClassEvidence(QWidget):
    """Heading, detail and one row of images of a class."""

    image_clicked = Signal(int)

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._title, self._detail = ElidedLabel("strong"), ElidedLabel("caption")
        self._strip = ThumbnailStrip(
            thumbnails, side=FACE, tip=tr("Click to show it in the grid"), is_row=True
        )
        self._strip.image_clicked.connect(self.image_clicked)
        column = fill_column(
            self, self._title, self._detail, self._strip, spacing=tokens().spacing.tiny
        )
        column.addStretch(1)

    @property
    def texts(self) -> tuple[str, str]:
        return self._title.text(), self._detail.text()

    def show_class(
        self, title: str, detail: str, images: Sequence[int], state: CollectionState
    ) -> None:
        self._title.show_text(title)
        self._detail.show_text(detail)
        self._strip.setAccessibleName(title)
        self._strip.show_images(images, state)
        # The height is the same without images.
        lines = self._title.sizeHint().height() + self._detail.sizeHint().height()
        self.setMinimumHeight(lines + FACE + 2 * tokens().spacing.tiny)


@final
class SuspectCard(QWidget):
    """View of one suspect; its buttons perform the actions of the page's keys."""

    action_requested = Signal(str)  # name of a key of the page
    image_requested = Signal(int)

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        spacing = tokens().spacing
        self.canvas = ImageCanvas()
        self.canvas.setMinimumHeight(LEAST_IMAGE)
        self.canvas.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.own, self.other = ClassEvidence(thumbnails), ClassEvidence(thumbnails)
        self.reason = make_flowing_label("", "secondary")
        self.buttons = {name: self._button(name, variant) for name, variant in _FIRST.items()}
        self.buttons |= {name: self._button(name, "muted") for name in _OTHERS}
        for evidence in (self.own, self.other):
            evidence.image_clicked.connect(self.image_requested)
        column = fill_column(self, self.canvas, spacing=spacing.medium)
        column.setContentsMargins(spacing.medium, spacing.small, spacing.medium, spacing.medium)
        column.setStretch(0, 1)
        both = QWidget()
        row = fill_row(both, self.own, self.other, spacing=spacing.large)
        row.setStretch(0, 1)
        row.setStretch(1, 1)
        column.addWidget(both)
        column.addWidget(self.reason)
        for names in (_FIRST, _OTHERS):
            column.addLayout(fill_row(None, *(self.buttons[name] for name in names), None))

    def _button(self, name: str, variant: str) -> QPushButton:
        button = make_button("", lambda: self.action_requested.emit(name), variant=variant)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def show_suspect(
        self,
        suspect: SuspectLabel,
        source: ImageSource,
        state: CollectionState,
        label: Label | None,
        name_of: Callable[[int], str],
    ) -> None:
        """Show a suspect; `label` is the stored label, None until it has been read."""
        self.setAccessibleName(tr("{1} → {2}", name_of(suspect.label), name_of(suspect.proposed)))
        self.canvas.show_image(source)
        self.canvas.setToolTip(plain_tip(image_name(source)))
        own, proposed = (
            wording.labelled_text(suspect, name_of),
            wording.looks_text(suspect, name_of),
        )
        self.own.show_class(own, wording.by_text(label), suspect.same, state)
        model = tr("{1}, by a model without this label", probability_text(suspect.score))
        self.other.show_class(proposed, model, suspect.others, state)
        likely = tr("{1} likely wrong", probability_text(suspect.probability))
        reason = wording.reason_text(suspect, name_of)
        self.reason.setText(with_breaks(in_sentences(likely, reason)))
        self.show_choices(suspect, name_of, 1)

    def show_choices(
        self, suspect: SuspectLabel, name_of: Callable[[int], str], count: int
    ) -> None:
        """Set the texts of the buttons, for one label or `count` selected ones."""
        relabel, keep = wording.relabel_text(suspect, name_of), wording.keep_text(suspect, name_of)
        if count > 1:
            relabel, keep = wording.several_texts(count)
        texts = {
            "relabel": relabel,
            "keep": keep,
            "later": tr("Ask later"),
            "other": tr("Other class…"),
            "unknown": tr("None of the classes"),
            "remove": tr("Remove label"),
        }
        for name, text in texts.items():
            self.buttons[name].setText(plain_button(_with_key(text, name)))
            self.buttons[name].setAccessibleName(text)

    def set_writable(self, is_writable: bool) -> None:
        for name, button in self.buttons.items():
            button.setEnabled(is_writable or name == "later")


_FIRST = {"relabel": "primary", "keep": "", "later": "flat"}
_OTHERS = ("other", "unknown", "remove")


def _with_key(text: str, name: str) -> str:
    """Text of a button with its key: `Keep Dog  K`."""
    keys = KEYS.keys_of(name)
    return f"{text}  {short_key(keys[0])}" if keys else text
