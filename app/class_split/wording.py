"""Sentences of the card "Split class"."""

from app.class_split.logic import SplitDraft
from app.texts import tr
from app.wording import images, number


def hint_text() -> str:
    return tr(
        "Click an image, or draw a box around some, to move them to the other class. Only images that you labelled are "
        "listed. Predictions update automatically."
    )


def staying_title(draft: SplitDraft) -> str:
    return tr("%1 keeps %2", draft.name, images(len(draft.staying)))


def leaving_title(draft: SplitDraft) -> str:
    return tr("The new class gets %1", images(len(draft.leaving)))


def below_text(name: str) -> str:
    return tr("Below %1", name)


def beside_text(name: str) -> str:
    return tr("Beside %1", name)


def too_few_text(name: str, count: int) -> str:
    return tr("%1 has %2 labelled images; to split a class takes 2. Label some more first.", name, number(count))
