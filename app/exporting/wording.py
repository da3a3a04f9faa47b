"""Texts of the "Export" card."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from app.texts import fill, marked, plural, tr
from app.wording import SEPARATOR, enumeration, file_size, images, in_sentences, number, sentence
from engine.exporting.export import Which
from engine.exporting.preview import ExportPreview
from engine.files import shown
from engine.images.reduced_photo import REDUCED_SIDE
from engine.interchange.labelled_images.formats import FormatGroup
from engine.new_folder import Placing
from engine.texts import paragraph, translated

if TYPE_CHECKING:
    from app.exporting.logic import ExportLook
    from engine.archive.pack import WrittenArchive
    from engine.bundle.export import ExportedModel
    from engine.interchange.labelled_images.formats import ImageFormat
    from engine.interchange.labelled_images.records import WrittenExport

GROUPS: Mapping[FormatGroup, str] = {
    FormatGroup.TABLES: marked("Tables"),
    FormatGroup.FOLDERS: marked("Folders"),
    FormatGroup.ANNOTATION: marked("Annotation tools"),
    FormatGroup.NATURE: marked("Nature and archives"),
    FormatGroup.MODEL: marked("Model"),
    FormatGroup.PROJECT: marked("Whole project"),
}
WHICH: Mapping[Which, str] = {
    Which.VERIFIED: marked("Verified only"),
    Which.SURE: marked("Verified and sure"),
    Which.ALL: marked("All", about="images"),
}
WHICH_HINTS: Mapping[Which, str] = {
    Which.VERIFIED: marked("Images labelled by a person"),
    Which.SURE: marked("Also images the model is sure of"),
    Which.ALL: marked("Also images without a class"),
}
PLACINGS: Mapping[Placing, str] = {
    Placing.COPY: marked("Copies"),
    Placing.HARD_LINK: marked("Hard links"),
    Placing.SYMBOLIC_LINK: marked("Symbolic links"),
}


def description(offered: ImageFormat) -> str:
    """Description of a format as a sentence."""
    return sentence(offered.description)


def losses(offered: ImageFormat) -> list[str]:
    """Data that a format cannot represent, as sentences."""
    photos = [tr("Photos are not included.")] if offered.names_images else []
    return [*photos, *map(sentence, offered.cannot_carry)]


def which_text(which: Which, count: int | None) -> str:
    """`Verified only  ·  1,204 images`."""
    title = tr(WHICH[which])
    return title if count is None else SEPARATOR.join((title, images(count)))


def which_hint(which: Which, look: ExportLook | None) -> str:
    """Hint of a choice: `Also 12 images the model is sure of. 3 of 505 classes have examples`."""
    verified = look.chosen.get(Which.VERIFIED) if look is not None else None
    sure = look.chosen.get(Which.SURE) if look is not None else None
    if which is not Which.SURE or look is None or verified is None or sure is None:
        return tr(WHICH_HINTS[which])
    count = sure.count - verified.count
    counted = plural(
        count, "Also 1 image the model is sure of", "Also {n} images the model is sure of"
    )
    also = counted if count else tr("The model is not sure of any image yet")
    return in_sentences(also, look.seen)


def placing_text(placing: Placing, size_bytes: int | None) -> str:
    """`Copies  ·  up to 1.2 GB`."""
    title = tr(PLACINGS[placing])
    if placing is not Placing.COPY or size_bytes is None:
        return title
    return SEPARATOR.join((title, tr("up to {1}", file_size(size_bytes))))


def placing_hint(placing: Placing) -> str:
    """Advantages and disadvantages of a way to place files."""
    match placing:
        case Placing.COPY:
            return tr("The folder is complete and can be moved to another computer.")
        case Placing.HARD_LINK:
            return tr("Use no space. The folder must be on the same disk as the images.")
        case Placing.SYMBOLIC_LINK:
            return tr("Use no space, but break once the images are moved.")


def photos_text(size_bytes: int | None, *, is_reduced: bool) -> str:
    """`Photos in full size  ·  about 1.2 GB`, `Previews of 1,024 px  ·  about 45 MB`."""
    title = (
        tr("Previews of {1} px", number(REDUCED_SIDE)) if is_reduced else tr("Photos in full size")
    )
    return (
        title
        if size_bytes is None
        else SEPARATOR.join((title, tr("about {1}", file_size(size_bytes))))
    )


def photos_hint(*, is_reduced: bool) -> str:
    """Advantages of photos and of previews."""
    if is_reduced:
        return tr(
            "Easy to send, and enough for most labelling. Videos and documents are included "
            "as they are."
        )
    return tr("Every detail can be seen.")


def target_facts(look: ExportLook) -> str:
    """Free space, and whether a file is replaced (unless there is a problem)."""
    parts = []
    if look.format.writes_into:
        parts.append(tr("Choose the folder of your images to put the new files next to them."))
    if look.replaced_kind and not look.problem:
        words = tr("{1} is {2}, not an export like this one. It will be lost.")
        parts.append(fill(words, shown(look.target.name), translated(look.replaced_kind)))
    elif look.is_taken and not look.problem:
        parts.append(tr("{1} exists and will be replaced.", shown(look.target.name)))
    if look.free_bytes is not None:
        parts.append(tr("{1} free on this disk.", file_size(look.free_bytes)))
    return paragraph(*parts)


def lacks_space(look: ExportLook, placing: Placing) -> str:
    """Warning that copies need more space than is free; "" if they fit."""
    offered, chosen = look.format, look.chosen.get(look.choice.which)
    needed = look.copy_bytes.get(look.choice.is_reduced, 0)
    if look.free_bytes is not None and needed > look.free_bytes:
        return tr(
            "The copy needs about {1}, and only {2} is free there.",
            file_size(needed),
            file_size(look.free_bytes),
        )
    is_copied = offered.has_images and placing is Placing.COPY
    if (
        not is_copied
        or chosen is None
        or look.free_bytes is None
        or chosen.size_bytes < look.free_bytes
    ):
        return ""
    return tr(
        "The copies need up to {1}, and only {2} is free there. Links use no space.",
        file_size(chosen.size_bytes),
        file_size(look.free_bytes),
    )


def preview_caption(preview: ExportPreview, count: int) -> str:
    """`8 of 2,640 images are shown`."""
    if not preview.images:
        if preview.lines:
            return tr("These files:")
        return tr("No such image yet.")
    if preview.images >= count:
        return tr("All of {1}", images(count)) if count > 1 else images(count)
    return tr("{1} of {2} are shown", number(preview.images), images(count))


def job_title(target: Path) -> str:
    """Text in the status bar."""
    return tr("Exporting to {1}", shown(target.name))


def written_text(done: WrittenExport | ExportedModel | WrittenArchive, target: Path) -> str:
    """Result of an export: written and omitted data."""
    from engine.archive.pack import WrittenArchive
    from engine.bundle.export import ExportedModel

    if isinstance(done, WrittenArchive):
        return copy_done_text(done, target)
    return model_done_text(done) if isinstance(done, ExportedModel) else done_text(done, target)


def done_text(written: WrittenExport, target: Path) -> str:
    """`Exported 2,640 images to birds.csv`, and the omitted data."""
    parts = [tr("Exported {1} to {2}", images(written.images), shown(target.name))]
    without = sum(written.left_out.values())
    if without:
        reasons = enumeration(map(translated, written.left_out))
        parts.append(tr("{1} left out: {2}", images(without), reasons))
    if written.failures:
        first = written.failures[0]
        template = tr("{1} could not be copied, the first is {2}: {3}")
        reason = shown(translated(first.reason))
        parts.append(fill(template, images(len(written.failures)), shown(first.path.name), reason))
    return in_sentences(*parts)


def model_done_text(done: ExportedModel) -> str:
    """`Exported the model with 52 classes to birds-model, 41.2 MB`."""
    return plural(
        done.classes,
        "Exported the model with {n} class to {1}, {2}",
        "Exported the model with {n} classes to {1}, {2}",
        shown(done.folder.name),
        file_size(done.size_bytes),
    )


def copy_done_text(done: WrittenArchive, target: Path) -> str:
    """`Copied the project and 300 photos to birds.protoleafz, 45.1 MB`, and the omitted data."""
    counted = plural(done.files, "1 photo", "{n} photos")
    parts = [
        fill(
            tr("Copied the project and {1} to {2}, {3}"),
            counted,
            shown(target.name),
            file_size(done.size_bytes),
        )
    ]
    if done.missing:
        parts.append(plural(done.missing, "1 photo was not found", "{n} photos were not found"))
    if done.failures:
        count = len(done.failures)
        parts.append(plural(count, "1 photo could not be read", "{n} photos could not be read"))
    return in_sentences(*parts)


def stopped_text(*, writes_into: bool) -> str:
    if writes_into:
        return tr("Stopped. The files written so far are complete and stay.")
    return tr("Stopped. Nothing was written.")
