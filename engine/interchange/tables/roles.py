"""What a column of a table may be: its role, the names that mean it in general, and the ranks of taxonomies."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.texts import marked


class Role(StrEnum):
    """What a column holds; its value is the word of `--column ROLE=NAME`."""

    FILE = "file"
    FOLDER = "folder"
    CLASS = "class"
    PLAIN_NAME = "plain_name"
    PATH = "path"
    RANK = "rank"
    ID = "id"
    SOURCE_ID = "source_id"
    IDENTITY = "identity"
    PARENT_ID = "parent_id"
    PARENT_NAME = "parent"
    ACCEPTED_ID = "accepted_id"
    ACCEPTED_NAME = "accepted"
    STATUS = "status"
    AUTHOR = "author"
    GENUS = "genus"
    SUBGENUS = "subgenus"
    SPECIES_EPITHET = "species_epithet"
    SUBSPECIES_EPITHET = "subspecies_epithet"
    SYNONYM = "synonym"
    VERNACULAR = "vernacular"
    LANGUAGE = "language"
    NOTE = "note"
    COLOUR = "colour"
    PROPERTIES = "properties"
    DATE = "date"
    TIME = "time"
    LATITUDE = "latitude"
    LONGITUDE = "longitude"
    COUNT = "count"
    BOX = "box"
    SCORE = "score"
    ANNOTATOR = "annotator"


@dataclass(frozen=True)
class RoleNames:
    """How people and programs call a role."""

    title: str  # for people
    names: tuple[str, ...] = ()  # of columns that mean it in any table, the most certain first


ROLES: Final[Mapping[Role, RoleNames]] = {
    Role.FILE: RoleNames(
        marked("name or path of the image"),
        (
            "image", "file_name", "file_path", "file", "image_path", "img", "path_to_image", "image_name", "image_file",
            "photo", "picture", "image_id", "Dateiname", "Datei", "Bild", "Foto", "fichier", "archivo",
        ),
    ),
    Role.FOLDER: RoleNames(
        marked("folder of the image"),
        (
            "folder", "directory", "relative_path", "subfolder", "folder_name", "Ordner", "Verzeichnis", "dossier",
            "carpeta",
        ),
    ),
    Role.CLASS: RoleNames(
        marked("name of the class"),
        (
            "child", "scientific_name", "canonical_name", "class", "label", "name", "taxon", "taxon_name",
            "latin_name", "species", "species_name", "category", "class_name", "preferred_name", "term", "concept",
            "wissenschaftlicher Name", "nom scientifique", "nombre científico", "Artname", "Art", "espèce", "especie",
        ),
    ),
    Role.PLAIN_NAME: RoleNames(marked("name of the class without its author"), ("canonical_name",)),
    Role.PATH: RoleNames(
        marked("names from the top down"), ("path", "lineage", "classification", "higher_classification", "taxonomy")
    ),
    Role.RANK: RoleNames(marked("rank"), ("rank", "taxon_rank", "taxonomic_rank", "rank_name", "Rang", "rango")),
    Role.ID: RoleNames(
        marked("id"), ("taxon_id", "taxon_key", "name_usage_id", "tsn", "aphia_id", "tax_id", "id", "class_id", "key")
    ),
    Role.SOURCE_ID: RoleNames(marked("id in the source that it came from"), ("source_id",)),
    Role.IDENTITY: RoleNames(marked("identity of the class in lists of Protoleaf"), ("identity",)),
    Role.PARENT_ID: RoleNames(
        marked("id of the class above"),
        (
            "parent_name_usage_id", "parent_taxon_id", "parent_id", "parent_key", "parent_tsn", "parent_tax_id",
            "parent_aphia_id", "is_child_taxon_of_id",
        ),
    ),
    Role.PARENT_NAME: RoleNames(
        marked("name of the class above"),
        ("parent", "parents", "parent_name_usage", "parent_name", "parent_taxon", "parent_class", "superclass",
         "supercategory", "broader"),
    ),
    Role.ACCEPTED_ID: RoleNames(
        marked("id of the accepted class"),
        (
            "accepted_name_usage_id", "accepted_taxon_key", "accepted_taxon_id", "accepted_id", "accepted_tsn",
            "valid_aphia_id", "aphia_id_accepted",
        ),
    ),
    Role.ACCEPTED_NAME: RoleNames(
        marked("name of the accepted class"),
        ("accepted_name_usage", "accepted_scientific_name", "accepted_name", "valid_name", "scientific_name_accepted"),
    ),
    Role.STATUS: RoleNames(
        marked("status: accepted or a synonym"), ("taxonomic_status", "taxon_status", "status", "name_usage")
    ),
    Role.AUTHOR: RoleNames(
        marked("author of the name"), ("scientific_name_authorship", "authorship", "authority", "author")
    ),
    Role.GENUS: RoleNames(marked("genus, as a part of the name"), ("generic_name", "genus")),
    Role.SUBGENUS: RoleNames(marked("subgenus, as a part of the name"), ("infrageneric_epithet",)),
    Role.SPECIES_EPITHET: RoleNames(
        marked("epithet of the species"), ("specific_epithet", "species_epithet", "epithet", "epitheton")
    ),
    Role.SUBSPECIES_EPITHET: RoleNames(
        marked("epithet below the species"),
        ("infraspecific_epithet", "subspecies_epithet", "infra_specific_epithet", "infraspecific_name"),
    ),
    Role.SYNONYM: RoleNames(
        marked("other names"), ("synonyms", "synonym", "other_names", "aliases", "alias", "Synonyme", "sinónimos")
    ),
    Role.VERNACULAR: RoleNames(
        marked("name in the language of people"),
        ("vernacular_name", "common_name", "vernacular", "vernacular_names", "common_names", "Trivialname",
         "preferred_common_name", "nom vernaculaire", "nombre común", "Volksname", "display_name"),
    ),
    Role.LANGUAGE: RoleNames(marked("language of that name"), ("language", "language_code", "lang", "Sprache")),
    Role.NOTE: RoleNames(
        marked("note"), ("note", "notes", "taxon_remarks", "remarks", "description", "definition", "Bemerkung")
    ),
    Role.COLOUR: RoleNames(marked("colour"), ("colour", "color", "Farbe")),
    Role.PROPERTIES: RoleNames(marked("further properties as JSON"), ("dynamic_properties",)),
    Role.DATE: RoleNames(
        marked("date, perhaps with the time"),
        ("date_time_original", "event_date", "date_time", "timestamp", "date", "observed_on", "Datum", "fecha"),
    ),
    Role.TIME: RoleNames(marked("time of day"), ("event_time", "time", "Uhrzeit", "hora", "heure")),
    Role.LATITUDE: RoleNames(marked("latitude"), ("decimal_latitude", "latitude", "lat", "gps_latitude")),
    Role.LONGITUDE: RoleNames(
        marked("longitude"), ("decimal_longitude", "longitude", "lon", "lng", "long", "gps_longitude")
    ),
    Role.COUNT: RoleNames(
        marked("how many"),
        ("individual_count", "count", "number_of_objects", "number", "quantity", "Anzahl", "nombre", "cantidad"),
    ),
    Role.BOX: RoleNames(marked("box"), ("bbox", "box", "bounding_box")),
    Role.SCORE: RoleNames(marked("confidence of a model"), ("score", "confidence", "probability")),
    Role.ANNOTATOR: RoleNames(
        marked("who labelled it"),
        ("labelled_by", "identified_by", "annotator", "annotated_by", "labeled_by", "determined_by", "observer",
         "classified_by", "Bestimmer", "det"),
    ),
}  # fmt: skip
"""By role."""

RANKS: Final[Mapping[str, tuple[str, ...]]] = {
    "domain": ("superkingdom", "Domäne", "dominio", "domaine"),
    "kingdom": ("regnum", "Reich", "règne", "reino"),
    "subkingdom": ("Unterreich", "subreino"),
    "phylum": ("division", "Stamm", "Abteilung", "embranchement", "filo", "filum"),
    "subphylum": ("subdivision", "Unterstamm", "sous-embranchement", "subfilo"),
    "superclass": ("Überklasse", "superclase"),
    "class": ("classis", "Klasse", "classe", "clase"),
    "subclass": ("subclassis", "Unterklasse", "sous-classe", "subclase"),
    "infraclass": ("Teilklasse",),
    "superorder": ("Überordnung", "superorden"),
    "order": ("ordo", "Ordnung", "ordre", "orden"),
    "suborder": ("subordo", "Unterordnung", "sous-ordre", "suborden"),
    "infraorder": ("Teilordnung",),
    "superfamily": ("superfamilia", "Überfamilie", "superfamille"),
    "family": ("familia", "Familie", "famille"),
    "subfamily": ("subfamilia", "Unterfamilie", "sous-famille"),
    "tribe": ("tribus", "Tribus", "tribu"),
    "subtribe": ("subtribus",),
    "genus": ("Gattung", "genre", "género"),
    "subgenus": ("Untergattung", "sous-genre", "subgénero"),
    "species": ("Art", "Spezies", "espèce", "especie"),
    "subspecies": ("Unterart", "sous-espèce", "subespecie", "ssp", "infraspecies"),
}
"""The ranks that columns are named after, the highest first, and their names in other languages."""

VERNACULAR_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("english_name", "english", "name_en", "common_name_en", "common_name_english", "name_english"),
    "de": ("german_name", "german", "Deutsch", "deutscher Name", "name_de", "common_name_de", "Name deutsch"),
    "fr": ("french_name", "french", "français", "nom français", "name_fr", "common_name_fr", "nom_fr"),
    "es": ("spanish_name", "spanish", "español", "nombre español", "name_es", "common_name_es", "nombre_es"),
    "it": ("italian_name", "italian", "italiano", "name_it", "common_name_it"),
    "nl": ("dutch_name", "dutch", "Nederlands", "name_nl", "common_name_nl"),
    "pt": ("portuguese_name", "portuguese", "português", "name_pt", "common_name_pt"),
    "sv": ("swedish_name", "swedish", "svenskt namn", "name_sv"),
}
"""Columns of names in one language, by its code."""

_PREFIX: Final = re.compile(r"\s*(?:https?://\S*[/#]|[A-Za-z][\w.-]*:)(?=\S)")
_IGNORED: Final = re.compile(r"[\s_\-.\"'\ufeff]+")


def column_key(name: str) -> str:
    """The name of a column as it is compared: without its vocabulary, blanks, underscores and hyphens; casefolded."""
    return _IGNORED.sub("", _PREFIX.sub("", name)).casefold()


def _key_of(rank: str) -> Mapping[str, str]:
    spellings = {column_key(each) for each in (rank, *RANKS[rank])}
    return {f"{before}{each}{after}": rank for each in spellings for before in ("", "taxon") for after in ("", "name")}


RANK_OF: Final[Mapping[str, str]] = {key: rank for each in RANKS for key, rank in _key_of(each).items()}
"""The rank of each `column_key` that means one."""
