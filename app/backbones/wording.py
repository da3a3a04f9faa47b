"""Backbones in words, in the person's language and number format."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QLocale

from app.backbones.logic import BackboneRow, ChangeFigures, Column, Door, Origin, PublishedRow
from app.texts import fill, translate
from app.wording import (
    SEPARATOR,
    file_size,
    images,
    number,
    part_of_size,
    percent_to_a_tenth,
    progress_facts,
    time_left,
    transfer_rate,
)
from engine.events import Progress

if TYPE_CHECKING:
    from engine.backbones.onnx_files.facts import OnnxFacts, Trial

BYTES: Final = "bytes"
UNNAMED: Final = "none named"
"""How the list of published networks says that nobody named a licence."""


def door_title(door: Door) -> str:
    """Name of a door, as its tab says it."""
    return {
        Door.COMPUTER: translate("backbones", "On this computer"),
        Door.PUBLISHED: translate("backbones", "Published networks"),
        Door.FILE: translate("backbones", "ONNX file…"),
    }[door]


def column_title(column: Column) -> str:
    """Heading of a column."""
    return {
        Column.NAME: translate("backbones", "Name"),
        Column.SIZE: translate("backbones", "Size"),
        Column.ACCURACY: translate("backbones", "Top-1"),
        Column.SIDE: translate("backbones", "Input"),
        Column.LICENCE: translate("backbones", "Licence"),
    }[column]


def column_tip(column: Column) -> str:
    """What a heading means, where its word alone does not say."""
    if column is Column.ACCURACY:
        return translate("backbones", "Share of ImageNet's images that it names right at once")
    if column is Column.SIDE:
        return translate("backbones", "Side of the square pictures that it sees")
    return ""


def pixels(side: int) -> str:
    """`224 px`."""
    return fill(translate("backbones", "%1 px"), number(side))


def origin_text(origin: Origin) -> str:
    """How a backbone came to this computer."""
    return {
        Origin.BUNDLED: translate("backbones", "Ships with Protoleaf"),
        Origin.PUBLISHED: translate("backbones", "Published network"),
        Origin.ADDED: translate("backbones", "Added by you"),
    }[origin]


def row_facts(row: BackboneRow) -> str:
    """`224 px  ·  512 numbers an image  ·  11.2 MB  ·  420 images/s on one core`."""
    facts = [
        pixels(row.input_side),
        fill(translate("backbones", "%1 numbers an image"), number(row.width)),
        file_size(row.size_bytes),
    ]
    if row.images_per_s:
        facts.append(fill(translate("backbones", "%1 images/s on one core"), number(round(row.images_per_s))))
    return SEPARATOR.join(facts)


def row_origin(row: BackboneRow) -> str:
    """Where a backbone is from, and its licence."""
    licence = fill(translate("backbones", "Licence: %1"), row.licence) if row.licence else ""
    return SEPARATOR.join(filter(None, (origin_text(row.origin), licence)))


def removal_question(row: BackboneRow) -> str:
    """What a removal means, before anything is deleted."""
    template = translate("backbones", "Remove %1? This deletes %2 (%3) from this computer for good.")
    return fill(template, row.name, row.file_name, file_size(row.size_bytes))


def removal_fate(row: BackboneRow) -> str:
    """What becomes of projects, and how the backbone comes back."""
    fate = translate(
        "backbones",
        "Projects that use it keep labels and predictions, but ask for it again before they look at new images.",
    )
    if row.origin is Origin.PUBLISHED:
        return " ".join((fate, translate("backbones", "It can be downloaded again.")))
    return " ".join((fate, translate("backbones", "It comes back only from its ONNX file.")))


def removed_text(name: str) -> str:
    """After a removal."""
    return fill(translate("backbones", "%1 is no longer on this computer"), name)


def proxy_button(address: str) -> str:
    """What leads to the proxy's address: which one is used, if any."""
    if not address:
        return translate("backbones", "Through a proxy…")
    return fill(translate("backbones", "Through the proxy %1"), address)


def published_facts(row: PublishedRow) -> str:
    """What is worth knowing before a download."""
    facts = [
        pixels(row.input_side),
        fill(translate("backbones", "%1 right on ImageNet"), percent_to_a_tenth(row.accuracy)),
    ]
    return SEPARATOR.join(facts)


def licence_text(row: PublishedRow) -> str:
    """The licence of the weights, and where it stands."""
    address = f" ({row.licence_url})" if row.licence_url else ""
    return fill(translate("backbones", "Licence: %1"), f"{row.licence}{address}")


def download_button(row: PublishedRow) -> str:
    """`Download 97.8 MB…`, or how to go on with one that was stopped."""
    if row.fetched_bytes:
        template = translate("backbones", "Go on: %1 of %2 are here…")
        return fill(template, file_size(row.fetched_bytes), file_size(row.size_bytes))
    return fill(translate("backbones", "Download %1…"), file_size(row.size_bytes))


def download_question(row: PublishedRow) -> str:
    """What a download means, before it begins."""
    template = translate(
        "backbones", "Fetches %1 from %2, and keeps it on this computer. Nothing about you or your images is sent."
    )
    return fill(template, file_size(row.size_bytes), row.host)


def task_facts(progress: Progress) -> str:
    """How far a task is; bytes as sizes."""
    if progress.unit != BYTES:
        return progress_facts(progress)
    facts = [part_of_size(progress.done, progress.total) if progress.total else file_size(progress.done)]
    if progress.rate_per_s > 0:
        facts.append(transfer_rate(progress.rate_per_s))
    if progress.note:
        facts.append(progress.note)
    if progress.seconds_left is not None and progress.done < progress.total:
        facts.append(time_left(progress.seconds_left))
    return SEPARATOR.join(facts)


def short_licence(row: PublishedRow) -> str:
    """A licence's name, as short as a column."""
    if row.licence.startswith(UNNAMED):
        return translate("backbones", "not named")
    return row.licence.partition(":")[0].partition(";")[0]


# -- an ONNX file


def file_facts(facts: "OnnxFacts") -> str:
    """`97.8 MB  ·  input images: 3 x 224 x 224  ·  2,048 numbers an image`."""
    shape = " x ".join(str(size) if isinstance(size, int) else "?" for size in facts.image_input.shape[1:])
    return SEPARATOR.join(
        (
            file_size(facts.size_bytes),
            fill(translate("backbones", "input %1: %2"), facts.image_input.name, shape),
            fill(translate("backbones", "%1 numbers an image"), number(facts.width)),
        )
    )


def trial_button(count: int) -> str:
    """`Try it on 8 of your images`."""
    if not count:
        return translate("backbones", "Add images to the project to try it")
    if count == 1:
        return translate("backbones", "Try it on your image")
    return fill(translate("backbones", "Try it on %1 of your images"), number(count))


def trial_text(trial: "Trial") -> str:
    """How a network did on the person's images."""
    template = translate("backbones", "It works: %1 gave %2 numbers each, about %3 images/s on one core.")
    rate = QLocale().toString(trial.images_per_s, "f", 1)
    return fill(template, images(trial.images), number(trial.width), rate)


# -- a change


def change_title(name: str) -> str:
    """Heading of a change that is made ready."""
    return fill(translate("backbones", "Getting %1 ready"), name)


def change_fate() -> str:
    """What a cancel means."""
    return translate(
        "backbones", "The project stays as it is until you decide. What is finished is kept when you cancel."
    )


def verdict(figures: ChangeFigures, name: str) -> str:
    """What the figures mean, in a few words."""
    if figures.after is None or figures.before is None:
        template = translate("backbones", "%1 is ready")
    elif figures.is_better:
        template = translate("backbones", "%1 is better")
    elif figures.is_worse:
        template = translate("backbones", "%1 is worse")
    else:
        template = translate("backbones", "%1 is about as good")
    return fill(template, name)


def comparison(figures: ChangeFigures) -> str:
    """`Now: 57.1 %  ·  Then: 61.9 %`, or why there are no figures."""
    if figures.after is None:
        return translate("backbones", "Too few labels to measure it: a class needs at least two.")
    then = fill(translate("backbones", "Then: %1"), percent_to_a_tenth(figures.after))
    if figures.before is None:
        return then
    return SEPARATOR.join((fill(translate("backbones", "Now: %1"), percent_to_a_tenth(figures.before)), then))


def measured_on(figures: ChangeFigures) -> str:
    """What the figures were measured on, and whether that is enough to tell."""
    if figures.after is None or not figures.shots:
        return ""
    if figures.shots == 1:
        basis = translate("backbones", "Right about 1 of your labels that was held out.")
    else:
        basis = translate("backbones", "Right answers about %1 of your labels, each held out once.")
    sentences = [fill(basis, number(figures.shots)), _certainty(figures)]
    return " ".join(filter(None, sentences))


def _certainty(figures: ChangeFigures) -> str:
    if figures.interval is None:
        return ""
    if figures.may_be_chance:
        return translate("backbones", "On so few, the difference may be chance.")
    if figures.before == figures.after:
        return translate("backbones", "There is no difference.")
    low, high = (QLocale().toString(100 * end, "f", 1) for end in figures.interval)
    return fill(translate("backbones", "In 19 of 20 cases the difference is %1 to %2 points."), low, high)


def failures_text(count: int) -> str:
    """How many images have no embedding."""
    return "" if not count else fill(translate("backbones", "%1 could not be read; they stay listed."), images(count))


def used_text(name: str) -> str:
    """After a change."""
    return fill(translate("backbones", "Now using %1"), name)


# -- preprocessing


def preset_title(name: str) -> str:
    """Name of a usual way to turn brightness into numbers; "" is for values of the person's own."""
    titles = {
        "": translate("backbones", "Own values"),
        "imagenet": translate("backbones", "ImageNet mean and deviation"),
        "minus-one-to-one": translate("backbones", "-1 to 1"),
        "zero-to-one": translate("backbones", "0 to 1"),
        "zero-to-255": translate("backbones", "0 to 255"),
        "caffe": translate("backbones", "0 to 255, mean taken off (Caffe)"),
        "clip": translate("backbones", "CLIP mean and deviation"),
    }
    return titles.get(name, name)


def value_scale_text(scale: float) -> str:
    """What full brightness is."""
    return QLocale().toString(scale, "g", 6)


def channel_order_text(order: str) -> str:
    """Which colours a network sees, and in which order."""
    return {
        "rgb": translate("backbones", "Red, green, blue"),
        "bgr": translate("backbones", "Blue, green, red"),
        "grey": translate("backbones", "Grey"),
    }[order]


def layout_text(layout: str) -> str:
    """Order of a network's input."""
    if layout == "nchw":
        return translate("backbones", "Colours first (NCHW)")
    return translate("backbones", "Colours last (NHWC)")


def pooling_text(pooling: str) -> str:
    """How an output becomes a vector."""
    return {
        "none": translate("backbones", "Nothing: it is one"),
        "mean": translate("backbones", "Mean over all places"),
        "first": translate("backbones", "First token"),
    }[pooling]
