"""Roles of columns with their usual names, and the ranks of taxonomies."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from engine.texts import marked


class Role(StrEnum):
    """Role of a column; its value is the word of `--column ROLE=NAME`.

    Attributes:
        about: description for users.
        names: of such columns in any table, the most specific first.
    """

    about: str
    names: tuple[str, ...]

    def __new__(cls, word: str, about: str, names: str) -> Self:
        """A role by its word; the names are separated by commas."""
        role = str.__new__(cls, word)
        role._value_, role.about, role.names = word, about, tuple(names.split(", "))
        return role

    FILE = (
        "file",
        marked("name or path of the image"),
        (
            "image, file_name, file_path, file, image_path, img, path_to_image, image_name, "
            "image_file, photo, picture, image_id, Dateiname, Datei, Bild, Foto, fichier, nom de "
            "fichier, archivo, nome file, immagine, bestandsnaam, bestand, arquivo, ficheiro, "
            "imagem, image_gcs_uri"
        ),
    )
    FOLDER = (
        "folder",
        marked("folder of the image"),
        (
            "folder, directory, relative_path, subfolder, folder_name, Ordner, Verzeichnis, "
            "dossier, carpeta"
        ),
    )
    CLASS = (
        "class",
        marked("name of the class"),
        (
            "child, scientific_name, canonical_name, class, label, name, taxon, taxon_name, "
            "latin_name, species, species_name, category, class_name, preferred_name, term, "
            "concept, wissenschaftlicher Name, nom scientifique, nombre científico, nome "
            "scientifico, Artname, Art, espèce, especie, specie, soort, espécie, class_label, "
            "label_name, Klasse, Kategorie, classe, clase, catégorie, categoría, categoria, "
            "étiquette, etiqueta, etichetta, Bezeichnung, nom, choice, answer, "
            "classification_annotation, ground_truth.label"
        ),
    )
    PLAIN_NAME = "plain_name", marked("name of the class without its author"), "canonical_name"
    PATH = (
        "path",
        marked("full path of the class"),
        "path, lineage, classification, higher_classification, taxonomy",
    )
    RANK = "rank", marked("rank"), "rank, taxon_rank, taxonomic_rank, rank_name, Rang, rango"
    ID = (
        "id",
        marked("id"),
        (
            "taxon_id, taxon_key, name_usage_id, tsn, aphia_id, tax_id, id, class_id, key, "
            "species_code, taxon_code, class_code"
        ),
    )
    SOURCE_ID = "source_id", marked("id in the source it was imported from"), "source_id"
    IDENTITY = "identity", marked("identity of the class in lists of Protoleaf"), "identity"
    PARENT_ID = (
        "parent_id",
        marked("id of the parent class"),
        (
            "parent_name_usage_id, parent_taxon_id, parent_id, parent_key, parent_tsn, "
            "parent_tax_id, parent_aphia_id, is_child_taxon_of_id"
        ),
    )
    PARENT_NAME = (
        "parent",
        marked("name of the parent class"),
        (
            "parent, parents, parent_name_usage, parent_name, parent_taxon, parent_class, "
            "superclass, supercategory, broader, parent_category, hypernym, Übergeordnet, "
            "Oberklasse, Elternklasse, classe parente, clase padre"
        ),
    )
    ACCEPTED_ID = (
        "accepted_id",
        marked("id of the accepted class"),
        (
            "accepted_name_usage_id, accepted_taxon_key, accepted_taxon_id, accepted_id, "
            "accepted_tsn, valid_aphia_id, aphia_id_accepted"
        ),
    )
    ACCEPTED_NAME = (
        "accepted",
        marked("name of the accepted class"),
        (
            "accepted_name_usage, accepted_scientific_name, accepted_name, valid_name, "
            "scientific_name_accepted"
        ),
    )
    TAXONOMIC_STATUS = (
        "status",
        marked("status: accepted or a synonym"),
        "taxonomic_status, taxon_status, status, name_usage",
    )
    AUTHOR = (
        "author",
        marked("author of the name"),
        "scientific_name_authorship, authorship, authority, author",
    )
    GENUS = "genus", marked("genus, as a part of the name"), "generic_name, genus"
    SUBGENUS = "subgenus", marked("subgenus, as a part of the name"), "infrageneric_epithet"
    SPECIES_EPITHET = (
        "species_epithet",
        marked("epithet of the species"),
        "specific_epithet, species_epithet, epithet, epitheton",
    )
    SUBSPECIES_EPITHET = (
        "subspecies_epithet",
        marked("epithet below the species"),
        "infraspecific_epithet, subspecies_epithet, infra_specific_epithet, infraspecific_name",
    )
    SYNONYM = (
        "synonym",
        marked("synonyms"),
        "synonyms, synonym, other_names, aliases, alias, Synonyme, sinónimos",
    )
    VERNACULAR = (
        "vernacular",
        marked("common name"),
        (
            "vernacular_name, common_name, vernacular, vernacular_names, common_names, "
            "Trivialname, preferred_common_name, nom vernaculaire, nombre común, Volksname, "
            "display_name"
        ),
    )
    LANGUAGE = "language", marked("language of that name"), "language, language_code, lang, Sprache"
    REMARKS = (
        "note",
        marked("note"),
        "note, notes, taxon_remarks, remarks, description, definition, Bemerkung",
    )
    COLOUR = "colour", marked("colour"), "colour, color, Farbe"
    PROPERTIES = "properties", marked("further properties as JSON"), "dynamic_properties"
    DATE = (
        "date",
        marked("date, perhaps with the time"),
        "date_time_original, event_date, date_time, timestamp, date, observed_on, Datum, fecha",
    )
    TIME = "time", marked("time of day"), "event_time, time, Uhrzeit, hora, heure"
    LATITUDE = "latitude", marked("latitude"), "decimal_latitude, latitude, lat, gps_latitude"
    LONGITUDE = (
        "longitude",
        marked("longitude"),
        "decimal_longitude, longitude, lon, lng, long, gps_longitude",
    )
    COUNT = (
        "count",
        marked("how many"),
        "individual_count, count, number_of_objects, number, quantity, Anzahl, nombre, cantidad",
    )
    BOX = "box", marked("box"), "bbox, box, bounding_box"
    SCORE = (
        "score",
        marked("confidence of a model"),
        "score, confidence, probability, ground_truth.confidence",
    )
    ANNOTATOR = (
        "annotator",
        marked("who labelled it"),
        (
            "labelled_by, identified_by, annotator, annotated_by, labeled_by, determined_by, "
            "observer, classified_by, Bestimmer, det"
        ),
    )


ROLE_OF: Mapping[str, Role] = {role.value: role for role in Role}
"""By its word."""

MOST_LEVELS = 9
"""Columns of levels, from "level 1". Chosen: no known table has more."""
LEVELS = tuple(f"level {number}" for number in range(1, MOST_LEVELS + 1))
"""Ranks that are only depths, which classes do not store."""
_LEVEL_WORDS = ("lvl", "tier", "Ebene", "Stufe", "niveau", "nivel", "livello", "nível")

RANKS: Mapping[str, tuple[str, ...]] = {
    rank: tuple(names.split(", "))
    for rank, names in {
        "domain": "superkingdom, Domäne, dominio, domaine",
        "kingdom": "regnum, Reich, règne, reino",
        "subkingdom": "Unterreich, subreino",
        "phylum": "division, Stamm, Abteilung, embranchement, filo, filum",
        "subphylum": "subdivision, Unterstamm, sous-embranchement, subfilo",
        "superclass": "Überklasse, superclase",
        "class": "classis, Klasse, classe, clase",
        "subclass": "subclassis, Unterklasse, sous-classe, subclase",
        "infraclass": "Teilklasse",
        "superorder": "Überordnung, superorden",
        "order": "ordo, Ordnung, ordre, orden",
        "suborder": "subordo, Unterordnung, sous-ordre, suborden",
        "infraorder": "Teilordnung",
        "superfamily": "superfamilia, Überfamilie, superfamille",
        "family": "familia, Familie, famille",
        "subfamily": "subfamilia, Unterfamilie, sous-famille",
        "tribe": "tribus, Tribus, tribu",
        "subtribe": "subtribus",
        "genus": "Gattung, genre, género",
        "subgenus": "Untergattung, sous-genre, subgénero",
        "species": "Art, Spezies, espèce, especie",
        "subspecies": "Unterart, sous-espèce, subespecie, ssp, infraspecies",
    }.items()
} | {level: tuple(level.replace("level", word) for word in _LEVEL_WORDS) for level in LEVELS}
"""Ranks, the highest first, with their names in other languages; then levels."""

VERNACULAR_COLUMNS: Mapping[str, tuple[str, ...]] = {
    code: tuple(names.split(", "))
    for code, names in {
        "en": "english_name, english, name_en, common_name_en, common_name_english, name_english",
        "de": "german_name, german, Deutsch, deutscher Name, name_de, common_name_de, Name deutsch",
        "fr": "french_name, french, français, nom français, name_fr, common_name_fr, nom_fr",
        "es": (
            "spanish_name, spanish, español, nombre español, name_es, common_name_es, nombre_es"
        ),
        "it": "italian_name, italian, italiano, name_it, common_name_it",
        "nl": "dutch_name, dutch, Nederlands, name_nl, common_name_nl",
        "pt": "portuguese_name, portuguese, português, name_pt, common_name_pt",
        "sv": "swedish_name, swedish, svenskt namn, name_sv",
    }.items()
}
"""Columns of names in a language, by its code."""

_PREFIX = re.compile(r"\s*(?:https?://\S*[/#]|[A-Za-z][\w.-]*:)(?=\S)")
_IGNORED = re.compile(r"[\s_\-.\"'\ufeff]+")


def column_key(name: str) -> str:
    """Normalize a column name: without vocabulary, blanks, underscores, hyphens and case."""
    return _IGNORED.sub("", _PREFIX.sub("", name)).casefold()


def _key_of(rank: str) -> Mapping[str, str]:
    spellings = {column_key(each) for each in (rank, *RANKS[rank])}
    return {
        f"{before}{each}{after}": rank
        for each in spellings
        for before in ("", "taxon")
        for after in ("", "name")
    }


RANK_OF: Mapping[str, str] = {key: rank for each in RANKS for key, rank in _key_of(each).items()}
"""The rank of each `column_key` that means one."""
