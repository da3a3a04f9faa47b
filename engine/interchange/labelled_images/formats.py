"""Formats of labelled images for export and import."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import BinaryIO

from engine.errors import FormatError, StorageError, UsageError
from engine.interchange.labelled_images import (
    box_files,
    camtrap_dp,
    camtrap_dp_reading,
    class_folders,
    coco,
    csv_table,
    cvat,
    darwin_core,
    fiftyone,
    huggingface,
    json_lines,
    keywords,
    label_studio,
    megadetector,
    parquet,
    table_rows,
    xmp_sidecars,
    yolo,
    yolo_detection,
)
from engine.interchange.labelled_images.box_formats import (
    CREATEML,
    LABELME,
    MEGADETECTOR,
    PASCAL_VOC,
    TITLES,
    VIA,
    YOLO,
    box_format_of,
    has_box_format,
)
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.foreign_labels import ForeignLabels
from engine.interchange.labelled_images.records import LabelledImages, WrittenExport
from engine.interchange.tables.read_table import TABLE_FILES
from engine.texts import enumerated, marked

AUTO = "auto"

WriteFile = Callable[[LabelledImages, BinaryIO], WrittenExport]
"""Writes into an open file, which is published under its name afterwards."""
WriteFolder = Callable[[LabelledImages, Path, FolderOptions], WrittenExport]
"""Fills an empty folder, which is published under its name afterwards."""
Read = Callable[[Path], ForeignLabels]
"""Reads a source; FormatError if it is of another format, StorageError if it is unreadable."""
ReadTable = Callable[[Path, Mapping[str, str] | None], ForeignLabels]
"""As `Read`, with column by role, set by the user."""
ReadPhotos = Callable[[Path, keywords.EmbeddedOf], ForeignLabels]
"""As `Read`; reads keywords inside of images, too."""
Fits = Callable[[Path], bool]  # whether a source looks like the format; without `FormatError`


class FormatGroup(StrEnum):
    """Purposes of formats, in the order shown."""

    PROJECT = "project"  # a copy of all of it
    TABLES = "tables"
    FOLDERS = "folders"
    ANNOTATION = "annotation"  # annotation tools and trainers
    NATURE = "nature"  # biodiversity archives and photo libraries
    MODEL = "model"


@dataclass(frozen=True)
class ImageFormat:
    """A format of labelled images."""

    title: str  # for users
    description: str  # for users, in a few words
    cannot_carry: tuple[str, ...] = ()  # losses, in short phrases
    suffix: str = ""  # of the file, with its dot; "" for a folder
    write_file: WriteFile | None = None  # this or `write_folder`
    write_folder: WriteFolder | None = None
    read: Read | None = None  # None if labels cannot be imported
    read_table: ReadTable | None = None  # in place of `read` for tables
    read_photos: ReadPhotos | None = None  # in place of `read` for photos with keywords
    fits: Fits | None = None  # None if it is never detected
    group: FormatGroup = FormatGroup.ANNOTATION
    has_images: bool = False  # whether the folder holds the images, as copies or links
    has_crop_form: bool = False  # see `FolderOptions.has_crops`
    has_flat_form: bool = False  # see `FolderOptions.is_flat`
    is_flat: bool = False  # whether its class folders are always flat
    is_spreadsheet: bool = False  # whether spreadsheets open it
    writes_into: bool = False  # whether `write_folder` writes into a folder with other files

    @property
    def is_read(self) -> bool:
        """Whether labels can be imported."""
        return any((self.read, self.read_table, self.read_photos))

    @property
    def is_folder(self) -> bool:
        return not self.suffix

    @property
    def has_labels(self) -> bool:
        """Whether a selection of images is exported; model and project have all of them."""
        return self.group not in {FormatGroup.MODEL, FormatGroup.PROJECT}

    @property
    def names_images(self) -> bool:
        """Whether it has paths of images in place of the images themselves."""
        return self.has_labels and not self.has_images and not self.writes_into


FORMATS: Mapping[str, ImageFormat] = {
    "csv": ImageFormat(
        "CSV",
        "a table with one row for each image, for spreadsheets and scripts",
        table_rows.CANNOT_CARRY,
        suffix=".csv",
        write_file=csv_table.write,
        read_table=csv_table.read,
        fits=csv_table.fits,
        group=FormatGroup.TABLES,
        is_spreadsheet=True,
    ),
    "jsonl": ImageFormat(
        "JSON lines",
        "one JSON object for each image, for scripts",
        table_rows.CANNOT_CARRY,
        suffix=".jsonl",
        write_file=json_lines.write,
        read_table=json_lines.read,
        fits=json_lines.fits,
        group=FormatGroup.TABLES,
    ),
    "parquet": ImageFormat(
        "Parquet",
        "a typed, compressed table for pandas, Polars, DuckDB and R",
        table_rows.CANNOT_CARRY,
        suffix=".parquet",
        write_file=parquet.write,
        read_table=parquet.read,
        fits=parquet.fits,
        group=FormatGroup.TABLES,
    ),
    "coco": ImageFormat(
        "COCO",
        "one JSON file of categories, images and annotations, for annotation tools and trainers",
        coco.CANNOT_CARRY,
        suffix=".json",
        write_file=coco.write,
        read=coco.read,
        fits=coco.fits,
    ),
    "cvat": ImageFormat(
        "CVAT",
        "CVAT for images 1.1: an XML file of tags and boxes, to continue in CVAT",
        cvat.CANNOT_CARRY,
        suffix=".xml",
        write_file=cvat.write,
        read=cvat.read,
        fits=cvat.fits,
    ),
    "darwin-core": ImageFormat(
        "Darwin Core archive",
        "occurrences with their identifications and images, "
        "as GBIF, museums and recording schemes exchange them",
        darwin_core.CANNOT_CARRY,
        suffix=".zip",
        write_file=darwin_core.write,
        read=darwin_core.read,
        fits=darwin_core.fits,
        group=FormatGroup.NATURE,
    ),
    "camtrap-dp": ImageFormat(
        "Camtrap DP",
        "camera trap data package 1.0: deployments, media and observations, "
        "as Agouti, TRAPPER and GBIF exchange them",
        camtrap_dp.CANNOT_CARRY,
        write_folder=camtrap_dp.write,
        read=camtrap_dp_reading.read,
        fits=camtrap_dp_reading.fits,
        group=FormatGroup.NATURE,
    ),
    "label-studio": ImageFormat(
        "Label Studio",
        "tasks with annotations and predictions, and the labelling interface, to continue in "
        "Label Studio",
        label_studio.CANNOT_CARRY,
        write_folder=label_studio.write,
        read=label_studio.read,
        fits=label_studio.fits,
    ),
    "fiftyone": ImageFormat(
        "FiftyOne",
        "a dataset folder that FiftyOne's own importer reads",
        fiftyone.CANNOT_CARRY,
        write_folder=fiftyone.write,
        read=fiftyone.read,
        fits=fiftyone.fits,
        has_images=True,
    ),
    "huggingface": ImageFormat(
        "Hugging Face",
        "an image folder with a dataset card, for the datasets library and the hub",
        huggingface.CANNOT_CARRY,
        write_folder=huggingface.write,
        read=huggingface.read,
        fits=huggingface.fits,
        group=FormatGroup.FOLDERS,
        has_images=True,
        has_crop_form=True,
    ),
    "yolo": ImageFormat(
        "YOLO classification",
        "train and val with a folder for each class, as Ultralytics trains on them",
        yolo.CANNOT_CARRY,
        write_folder=yolo.write,
        read=yolo.read,
        fits=yolo.fits,
        group=FormatGroup.FOLDERS,
        has_images=True,
        has_crop_form=True,
        is_flat=True,
    ),
    YOLO: ImageFormat(
        TITLES[YOLO],
        "images and labels with the boxes of each, and data.yaml, as Ultralytics trains on them",
        yolo_detection.CANNOT_CARRY,
        write_folder=yolo_detection.write,
        read=yolo_detection.read,
        fits=partial(has_box_format, YOLO),
        group=FormatGroup.FOLDERS,
        has_images=True,
        is_flat=True,
    ),
    "xmp": ImageFormat(
        "XMP sidecars",
        "keywords in files next to the images, for Lightroom, digiKam and darktable; existing "
        "content of a sidecar is kept",
        xmp_sidecars.CANNOT_CARRY,
        write_folder=xmp_sidecars.write,
        read=xmp_sidecars.read,
        fits=xmp_sidecars.fits,
        group=FormatGroup.NATURE,
        writes_into=True,
    ),
    "folders": ImageFormat(
        "Class folders",
        "a folder for each class with its images, "
        "as torchvision's ImageFolder and most trainers read them",
        (
            "images without a class are left out",
            "a class with several parents is put under the first; a table lists the others",
            class_folders.BOXES_IN_FOLDERS,
        ),
        write_folder=class_folders.write,
        read=class_folders.read,
        fits=class_folders.fits,
        group=FormatGroup.FOLDERS,
        has_images=True,
        has_crop_form=True,
        has_flat_form=True,
    ),
}
"""By name on the command line, in the order of detection; the first that fits is taken."""


KEYWORDS = "keywords"
_LABEL_FILES = frozenset({fiftyone.LABELS, "labels.csv", "labels.xml", "result.json"})
_IMAGE_FOLDERS = frozenset({fiftyone.DATA, "images"})
"""Contents of folders of FiftyOne and Label Studio: a file of labels and a folder of images."""
READ_FORMATS: Mapping[str, ImageFormat] = {
    **{name: one for name, one in FORMATS.items() if one.is_read and name != "folders"},
    **{
        name: ImageFormat(TITLES[name], about, read=read, fits=partial(has_box_format, name))
        for name, about, read in (
            (
                MEGADETECTOR,
                marked("results of MegaDetector, or predictions of SpeciesNet: boxes with scores"),
                megadetector.read,
            ),
            (
                PASCAL_VOC,
                marked("an XML file with boxes for each image"),
                box_files.read_pascal_voc,
            ),
            (LABELME, marked("a JSON file with shapes for each image"), box_files.read_labelme),
            (CREATEML, marked("a JSON list of images with boxes"), box_files.read_createml),
            (VIA, marked("a JSON project with regions of images"), box_files.read_via),
        )
    },
    KEYWORDS: ImageFormat(
        "Keywords of photos",
        "keywords given in Lightroom, digiKam, darktable or Bridge, in the images or in sidecars",
        read_photos=keywords.read,
        fits=keywords.fits,
        group=FormatGroup.NATURE,
    ),
    "folders": FORMATS["folders"],
}
"""Formats that labels are imported from, in the order of detection."""


def format_named(name: str, formats: Mapping[str, ImageFormat] = FORMATS) -> ImageFormat:
    """Look up a format by name.

    Raises:
        UsageError: there is none.
    """
    if name not in formats:
        raise UsageError(
            'there is no format "{name}"',
            expected="one of {formats}",
            remedy="choose one",
            name=name,
            formats=enumerated(formats),
        )
    return formats[name]


def file_with_labels(source: Path) -> Path:
    """The only file of labels in a folder of FiftyOne or Label Studio; else the source itself."""
    try:
        names = {each.name for each in source.iterdir() if not each.name.startswith(".")}
    except OSError:  # not a folder, or not readable
        return source
    if fiftyone.SAMPLES in names:
        return source / fiftyone.SAMPLES
    found = names & _LABEL_FILES
    return source / found.pop() if len(found) == 1 and len(names - _IMAGE_FOLDERS) == 1 else source


def detect(source: Path) -> str:
    """Detect the format of a file or folder with labels.

    Raises:
        StorageError: the source does not exist.
        FormatError: it is of no known format.
    """
    if not source.exists():
        raise StorageError('there is no "{source}"', remedy="check the path", source=source)
    source = file_with_labels(source)
    if source.name == fiftyone.SAMPLES and fiftyone.fits(source):
        return "fiftyone"
    if form := box_format_of(source):  # first: their folders look like class folders
        return form
    if source.name == camtrap_dp_reading.OBSERVATIONS and camtrap_dp_reading.fits(source):
        return "camtrap-dp"
    for name, one in READ_FORMATS.items():
        if one.fits is not None and one.fits(source):
            return name
    suffix = source.suffix.casefold() if source.is_file() else ""
    if suffix in TABLE_FILES:  # reading it raises a better error
        return "csv"
    if suffix in json_lines.SUFFIXES or (suffix == ".json" and json_lines.has_labels(source)):
        return "jsonl"
    raise FormatError(
        "{source} is in none of the formats that labels are read from",
        expected="one of {read_formats}",
        remedy="name the format if you know it (--format)",
        source=source.name,
        read_formats=enumerated(READ_FORMATS),
    )
