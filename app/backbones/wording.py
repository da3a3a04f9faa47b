"""Texts about backbones, translated and localized."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import QLocale

from app.backbones.logic import BackboneRow, Origin, PublishedRow, Source
from app.texts import fill, marked, plural, tr
from app.wording import (
    SEPARATOR,
    file_size,
    images,
    images_per_s,
    number,
    on_one_line,
    percent_to_a_tenth,
)
from engine.backbones.published.titles import Advice
from engine.texts import paragraph

if TYPE_CHECKING:
    from engine.backbones.bundled import OfferedBackbone
    from engine.backbones.messages import OnnxFacts, Trial
    from engine.collection.backbone_change import ShotComparison

_SLOW = 10  # images/s below which a decimal is shown

SOURCE_TITLES = {
    Source.COMPUTER: marked("Installed"),
    Source.PUBLISHED: marked("Published networks"),
    Source.FILE: marked("ONNX file"),
}
_ORIGINS = {
    Origin.BUNDLED: marked("Ships with Protoleaf"),
    Origin.PUBLISHED: marked("Published network"),
    Origin.ADDED: marked("Added by you"),
}
# Badges of the bundled backbones.
CHOICES = {
    "accurate": marked("Accurate"),
    "fast": marked("Fast"),
}
ADVICE = {
    Advice.FAST: marked("Fast"),
    Advice.BALANCED: marked("Balanced"),
    Advice.BEST: marked("Most accurate"),
}
NOT_KNOWN = "\N{EN DASH}"  # in a table


def pixels(side: int) -> str:
    return on_one_line(tr("{1} px", number(side)))


def row_facts(row: BackboneRow) -> str:
    """`224 px  ·  512-dimensional embedding  ·  11.2 MB  ·  420 images/s on one core`."""
    card = row.files.card
    embedding = tr("{1}-dimensional embedding", number(card.embedding_width))
    size = file_size(row.size_bytes) if row.size_bytes else ""
    speed = _speed_here(row) or _speed(row.images_per_s)
    return SEPARATOR.join(filter(None, (pixels(card.input_side), embedding, size, speed)))


def _speed_here(row: BackboneRow) -> str:
    """`160 images/s on this computer`, an upper bound if no photos of the user were decoded."""
    if row.rate is None:
        return ""
    if row.preparation is not None:
        template = tr("about {1} on this computer")
    elif row.rate.decoding:
        template = tr("{1} on this computer")
    else:
        template = tr("up to {1} on this computer")
    return fill(template, images_per_s(row.rate.images_per_s))


def _speed(images_per_s: float | None) -> str:
    """`420 images/s on one core`; "" if not measured."""
    if not images_per_s:
        return ""
    rate = QLocale().toString(images_per_s, "f", 0 if images_per_s >= _SLOW else 1)
    return on_one_line(tr("{1} images/s on one core", rate))


def row_origin(row: BackboneRow) -> str:
    """Origin and licence, shortened for bundled backbones."""
    card = row.files.card
    facts = [tr(_ORIGINS[row.origin])]
    if row.choice is not None and card.training_data:
        facts.append(tr("Trained on {1}", _first_words(card.training_data, ",")))
    if card.licence:
        facts.append(tr("Licence: {1}", _first_words(card.licence, ":", ". ")))
    if row.preparation is not None:
        facts.append(tr("First use: about a minute of setup"))
    return SEPARATOR.join(facts)


def row_details(row: BackboneRow) -> str:
    """Full training data and licence of a bundled backbone."""
    card = row.files.card
    return "" if row.choice is None else "\n".join(filter(None, (card.training_data, card.licence)))


def _first_words(text: str, *ends: str) -> str:
    for end in ends:
        text = text.partition(end)[0]
    return text


def removal_question(row: BackboneRow) -> str:
    name, size = row.files.backbone.name, file_size(row.size_bytes)
    return tr(
        "Remove {1}? This deletes {2} ({3}) from this computer for good.", row.name, name, size
    )


def removal_consequence(row: BackboneRow) -> str:
    consequence = tr(
        "Projects that use it keep their labels and predictions, but need it again to embed "
        "new images."
    )
    if row.origin is Origin.PUBLISHED:
        return paragraph(consequence, tr("It can be downloaded again."))
    return paragraph(consequence, tr("It can be added again only from its ONNX file."))


def accuracy(row: PublishedRow) -> str:
    return "" if row.network.top1 is None else percent_to_a_tenth(row.network.top1 / 100)


def table_accuracy(row: PublishedRow) -> str:
    return accuracy(row) or NOT_KNOWN


def table_size(row: PublishedRow) -> str:
    return file_size(row.network.size_bytes) if row.network.size_bytes else NOT_KNOWN


def download_size(row: PublishedRow) -> str:
    """`97.8 MB`; `about 88.2 MB` if estimated from the parameters; "" if unknown."""
    if not row.network.size_bytes:
        return ""
    size = file_size(row.network.size_bytes)
    return size if row.network.sha256_prefix else tr("about {1}", size)


def published_facts(row: PublishedRow) -> str:
    """`82.5% ImageNet top-1  ·  114.4 MB  ·  224 px`."""
    top1_text = accuracy(row)
    top1 = top1_text and tr("{1} ImageNet top-1", top1_text)
    facts = (top1, download_size(row), pixels(row.network.input_side), _speed(row.images_per_s))
    return SEPARATOR.join(filter(None, facts))


def licence_and_work(row: PublishedRow) -> str:
    """`Licence: not named  ·  about 11 times slower`, by the number of operations per image."""
    licence = tr("Licence: {1}", short_licence(row))
    if row.times_the_work <= 1:
        return licence
    return SEPARATOR.join(
        (licence, tr("about {1} times slower", number(round(row.times_the_work))))
    )


def licence_text(row: PublishedRow) -> str:
    address = f" ({row.network.licence_url})" if row.network.licence_url else ""
    return tr("Licence: {1}", f"{row.network.licence}{address}")


def download_button(row: PublishedRow) -> str:
    if not row.network.size_bytes:
        return tr("Download…")
    if row.fetched_bytes:
        return tr(
            "Resume: {1} of {2} done…",
            file_size(row.fetched_bytes),
            file_size(row.network.size_bytes),
        )
    return tr("Download {1}…", download_size(row))


def download_question(row: PublishedRow, mirror: str = "") -> str:
    if mirror and "://" not in mirror:
        return tr("Takes {1} from {2}. Nothing is downloaded.", row.name, mirror)
    text = tr(
        "Downloads {1} from {2} and keeps it on this computer. Nothing about you or your images "
        "is sent."
    )
    return fill(
        text, download_size(row) or row.name, urlsplit(mirror or row.network.url).hostname or mirror
    )


def short_licence(row: PublishedRow) -> str:
    if row.network.is_unlicensed:
        return tr("not named")
    return row.network.licence.partition(":")[0].partition(";")[0]


def file_facts(facts: OnnxFacts) -> str:
    """`97.8 MB  ·  input 3 x 224 x 224  ·  2,048-dimensional embedding`."""
    sizes = (str(size) if isinstance(size, int) else "?" for size in facts.image_input.shape[1:])
    shape = tr("input {1}", " \N{MULTIPLICATION SIGN} ".join(sizes))
    embedding = tr("{1}-dimensional embedding", number(facts.width))
    return SEPARATOR.join((file_size(facts.size_bytes), shape, embedding))


def trial_button(count: int) -> str:
    if not count:
        return tr("Add images to the project to try it")
    return plural(count, "Try it on your image", "Try it on {n} of your images")


def trial_text(trial: Trial) -> str:
    template = tr("It works: {1} embedded, {2} dimensions, about {3} images/s on one core.")
    rate = QLocale().toString(trial.images_per_s, "f", 1)
    return on_one_line(fill(template, images(trial.images), number(trial.width), rate))


def offer_text(accurate: OfferedBackbone) -> str:
    template = tr("This project uses Fast. Accurate makes fewer mistakes.")
    times = round(accurate.times_the_work)
    if times <= 1:
        return template
    return paragraph(
        template, tr("Analysing images would take about {1} times as long.", number(times))
    )


def verdict(figures: ShotComparison, name: str) -> str:
    if figures.after is None or figures.before is None:
        template = tr("{1} is ready")
    elif figures.is_better:
        template = tr("{1} is better")
    elif figures.is_worse:
        template = tr("{1} is worse")
    else:
        template = tr("{1} is about as good")
    return fill(template, name)


def comparison(figures: ShotComparison) -> str:
    """`Current: 57.1%  ·  New: 61.9%`, or why there are no figures."""
    if figures.after is None:
        return tr("Too few labels to compare: a class needs at least two.")
    then = tr("New: {1}", percent_to_a_tenth(figures.after))
    if figures.before is None:
        return then
    return SEPARATOR.join((tr("Current: {1}", percent_to_a_tenth(figures.before)), then))


def measured_on(figures: ShotComparison) -> str:
    """What the figures were measured on, and how certain the difference is."""
    if figures.after is None or not figures.shots:
        return ""
    basis = plural(
        figures.shots,
        "Accuracy on 1 held-out image.",
        "Accuracy on {n} of your labels, each held out once.",
    )
    return paragraph(basis, _certainty(figures))


def _certainty(figures: ShotComparison) -> str:
    if figures.interval is None:
        return ""
    if figures.may_be_chance:
        return tr("With so few labels, this may be chance.")
    if figures.before == figures.after:
        return tr("There is no difference.")
    low, high = (QLocale().toString(100 * end, "f", 1) for end in figures.interval)
    return tr("95% confidence interval of the difference: {1} to {2} points.", low, high)


def failures_text(count: int) -> str:
    return "" if not count else tr("{1} could not be read.", images(count))
