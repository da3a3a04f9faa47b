"""Dialects: columns of tables of well-known programs that their names do not identify."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from engine.interchange.tables.roles import Role
from engine.texts import marked


class TablePurpose(StrEnum):
    """Purpose for which a table is read."""

    CLASSES = "class list"
    LABELS = "labels"


@dataclass(frozen=True)
class Dialect:
    """The tables of a program or standard."""

    name: str
    title: str  # for users; "" if it is of no program
    purposes: tuple[TablePurpose, ...]
    signature: tuple[str, ...]
    """Columns that all its tables have, which identify it; () if columns do not."""
    columns: Mapping[Role, tuple[str, ...]]
    """Columns by role, which precede the role's general names; () for a missing role."""
    notes: str = ""  # for the guide
    first_row: str = ""
    """Pattern of the tab-separated first row of a table without a header.

    Then `columns` are numbers from 1.
    """
    has_synonyms_below: bool = False  # whether the parent of a synonym is the accepted taxon


_CLASSES = (TablePurpose.CLASSES,)
_LABELS = (TablePurpose.LABELS,)

DIALECTS = (
    Dialect(
        "wildlife-insights",
        "Wildlife Insights",
        _LABELS,
        ("filename", "wi_taxon_id"),
        {
            Role.FILE: ("filename",),
            Role.FOLDER: (),
            Role.CLASS: (),
            Role.SPECIES_EPITHET: ("species",),
            Role.ID: ("wi_taxon_id",),
        },
        "class, order, family, genus and species are ranks; species is the epithet; "
        "is_blank is an empty image",
    ),
    Dialect(
        "timelapse",
        "Timelapse",
        _LABELS,
        ("File", "RelativePath"),
        {
            Role.FILE: ("File",),
            Role.FOLDER: ("RelativePath",),
            Role.CLASS: ("Species", "Class", "Label", "Taxon"),
        },
        "RelativePath is the folder of File; rows marked in DeleteFlag are still labels",
    ),
    Dialect(
        "camtrap-dp-observations",
        "Camtrap DP",
        _LABELS,
        ("observationID", "scientificName"),
        {
            Role.FILE: ("mediaID",),
            Role.CLASS: ("scientificName",),
            Role.ANNOTATOR: ("classifiedBy",),
            Role.DATE: ("eventStart", "timestamp"),
        },
        "observations.csv of the package; images are in media.csv",
    ),
    Dialect(
        "inaturalist-observations",
        "iNaturalist",
        _LABELS,
        ("image_url", "scientific_name"),
        {
            Role.FILE: ("image_url",),
            Role.CLASS: ("scientific_name",),
            Role.ID: ("taxon_id",),
            Role.DATE: ("time_observed_at", "observed_on"),
            Role.ANNOTATOR: ("user_login",),
        },
        "an export of observations",
    ),
    Dialect(
        "addaxai",
        "AddaxAI (EcoAssist)",
        _LABELS,
        ("relative_path", "label", "confidence"),
        {
            Role.FILE: ("relative_path", "absolute_path"),
            Role.FOLDER: (),
            Role.CLASS: ("label",),
            Role.SCORE: ("confidence",),
        },
        "results_detections.csv",
    ),
    Dialect(
        "exiftool",
        "exiftool -csv",
        _LABELS,
        ("SourceFile",),
        {
            Role.FILE: ("SourceFile",),
            Role.FOLDER: (),
            Role.CLASS: ("HierarchicalSubject", "Keywords", "Subject", "XPKeywords"),
            Role.DATE: ("DateTimeOriginal", "CreateDate"),
            Role.LONGITUDE: ("GPSLongitude",),
        },
        "keywords, as those inside of photos: HierarchicalSubject, Keywords, Subject, XPKeywords",
    ),
    Dialect(
        "via",
        "VGG Image Annotator",
        _LABELS,
        ("filename", "file_attributes"),
        {
            Role.FILE: ("filename",),
            Role.CLASS: ("file_attributes", "region_attributes"),
            Role.BOX: ("region_shape_attributes",),
            Role.COUNT: (),
        },
        "the class is a value of the file's attributes; rows with regions alone are boxes",
    ),
    Dialect(
        "open-images",
        "Open Images",
        _LABELS,
        ("ImageID", "LabelName"),
        {
            Role.FILE: ("ImageID",),
            Role.CLASS: ("LabelName",),
            Role.SCORE: ("Confidence",),
            Role.ANNOTATOR: ("Source",),
        },
        "LabelName is an id such as /m/01g317, which the class list has as its id",
    ),
    Dialect(
        "vertex",
        "Vertex AI",
        _LABELS,
        (),
        {Role.FILE: ("2",), Role.CLASS: ("3",)},
        "no header: the set, the address in a bucket, the label",
        first_row=r"(?i)(?:training|validation|test|train|unassigned|)\tgs://.*",
    ),
    Dialect(
        "vertex-without-sets",
        "Vertex AI",
        _LABELS,
        (),
        {Role.FILE: ("1",), Role.CLASS: ("2",)},
        "no header: the address in a bucket, the label",
        first_row=r"gs://[^\t]*\t.*",
    ),
    Dialect(
        "files-without-header",
        "",
        _LABELS,
        (),
        {Role.FILE: ("1",), Role.CLASS: ("2",)},
        "no header: the file, the class",
        first_row=r"(?i)[^\t]+\.(?:jpe?g|png|tiff?|gif|bmp|webp|heic)\t(?=[^\t]*[^\W\d])[^\t]+",
    ),
    Dialect(
        "label-studio",
        "Label Studio",
        _LABELS,
        ("annotation_id", "lead_time", "image"),
        {
            Role.FILE: ("image",),
            Role.CLASS: ("choice", "class", "label", "taxonomy"),
            Role.ANNOTATOR: ("annotator",),
            Role.SCORE: (),
        },
        "an export as CSV or JSON-MIN",
    ),
    Dialect(
        "labelbox",
        "Labelbox",
        _LABELS,
        ("External ID", "Label", "Created By"),
        {Role.FILE: ("External ID",), Role.CLASS: ("Label",), Role.ANNOTATOR: ("Created By",)},
        "Label is JSON: the answers of its classifications",
    ),
    Dialect(
        "ground-truth",
        "SageMaker Ground Truth",
        _LABELS,
        ("source-ref",),
        {Role.FILE: ("source-ref",), Role.CLASS: ("class-name", "label")},
        "JSON lines: the class is class-name in the metadata of the label",
    ),
    Dialect(
        "protoleaf-classes",
        "Protoleaf",
        _CLASSES,
        ("child", "parent", "id", "parent_id"),
        {},
        "what export-graph writes: ids tell the classes apart, several may have one name",
    ),
    Dialect(
        "coldp-name-usage",
        "Catalogue of Life (ColDP)",
        _CLASSES,
        ("ID", "parentID", "status", "scientificName"),
        {
            Role.ID: ("ID",),
            Role.PARENT_ID: ("parentID",),
            Role.CLASS: ("scientificName",),
            Role.GENUS: ("genericName",),
        },
        "NameUsage.tsv; a synonym has its accepted taxon as parentID",
        has_synonyms_below=True,
    ),
    Dialect(
        "gbif",
        "GBIF",
        _CLASSES,
        ("taxonKey", "scientificName"),
        {Role.ID: ("taxonKey",), Role.CLASS: ("scientificName",)},
        "a species list; ranks are columns",
    ),
    Dialect(
        "worms",
        "WoRMS",
        _CLASSES,
        ("AphiaID", "ScientificName"),
        {
            Role.ID: ("AphiaID",),
            Role.CLASS: ("ScientificName",),
            Role.ACCEPTED_ID: ("AphiaID_accepted", "valid_AphiaID"),
            Role.ACCEPTED_NAME: ("ScientificName_accepted", "valid_name"),
            Role.PARENT_ID: ("parentNameUsageID", "parent_AphiaID"),
        },
        "parents are ids or addresses that end in them",
    ),
    Dialect(
        "darwin-core",
        marked("Darwin Core"),
        _CLASSES,
        ("scientificName",),
        {
            Role.ID: ("taxonID", "taxonKey", "id"),
            Role.CLASS: ("scientificName",),
            Role.GENUS: ("genericName", "genus"),
            Role.SUBGENUS: ("infragenericEpithet",),
            Role.PATH: ("higherClassification",),
        },
        "Taxon.tsv, the archive as it was downloaded, or its folder, "
        "with its tables of vernacular names",
    ),
    Dialect(
        "inaturalist-taxa",
        "iNaturalist",
        _CLASSES,
        ("taxon_id", "ancestry", "name"),
        {Role.ID: ("taxon_id",), Role.CLASS: ("name",), Role.PARENT_ID: ("ancestry",)},
        "taxa.csv of the open data: the last id of ancestry is the parent",
    ),
    *(
        Dialect(
            "wikidata",
            "Wikidata",
            _CLASSES,
            (item, f"{item}Label"),
            {
                Role.ID: (item,),
                Role.CLASS: (f"{item}Label",),
                Role.PARENT_ID: ("parent", "parent_taxon", "superclass", "subclassOf"),
                Role.PARENT_NAME: ("parentLabel",),
                Role.RANK: ("rankLabel", "taxon_rankLabel"),
            },
            "an answer of the query service: addresses, and their labels",
        )
        for item in ("item", "taxon")
    ),
    Dialect(
        "clements",
        "Clements (eBird)",
        _CLASSES,
        ("category", "scientific name", "English name"),
        {Role.ID: ("species_code",), Role.CLASS: ("scientific name",), Role.RANK: ("category",)},
        "the checklist as a workbook or CSV; category is the rank",
    ),
    Dialect(
        "edges-by-graph-program",
        marked("edges of a graph program"),
        _CLASSES,
        ("Source", "Target"),
        {Role.CLASS: ("Target",), Role.PARENT_NAME: ("Source",), Role.ID: ()},
        "Gephi and others; Source is above Target",
    ),
    Dialect(
        "open-images-classes",
        "Open Images",
        _CLASSES,
        (),
        {Role.ID: ("1",), Role.CLASS: ("2",)},
        "class-descriptions.csv: no header, id and name",
        first_row=r"/m/[^\t]*\t[^\t]+",
    ),
)
"""In the order of detection."""

CHECKLISTS = frozenset({"coldp-name-usage", "gbif", "worms", "darwin-core"})
"""Dialects of tables of taxa, which may be in archives."""
