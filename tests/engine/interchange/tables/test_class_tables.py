"""Class lists as programs and people write them, by the roles of their columns."""

from pathlib import Path

import pytest

from engine.errors import FormatError, UsageError
from engine.interchange.detect import read_graph
from engine.interchange.imported import ImportedGraph, LeftOutReason

BIRDS = ("Bird/Gull", "Bird/Tern")
LISTS = {
    "coldp": (
        (
            "ID\tparentID\tstatus\trank\tscientificName\n1\t\taccepted\tfamily\tCanidae\n"
            "2\t1\taccepted\tgenus\tCanis\n3\t2\tsynonym\tgenus\tLupus\n"
        ),
        {"Canidae", "Canidae/Canis"},
        {"Canis": ("Lupus",)},
    ),
    "by-name": (
        (
            "taxonID,scientificName,parentNameUsage,acceptedNameUsage\n1,Plantae,,\n2,"
            "Asteraceae,Plantae,\n"
            "3,Compositae,,Asteraceae\n4,Bellis,Compositae,\n"
        ),
        {"Plantae", "Plantae/Asteraceae", "Asteraceae/Bellis"},
        {"Asteraceae": ("Compositae",)},
    ),
    "worms": (
        (
            "AphiaID,ScientificName,Authority,AphiaID_accepted,ScientificName_accepted,status,"
            "Class,Genus\n"
            "1,Larus canus,Linnaeus,1,Larus canus,accepted,Aves,Larus\n"
            "2,Larus hybernus,Gmelin,1,Larus canus,unaccepted,Aves,Larus\n"
        ),
        {"Aves", "Aves/Larus", "Larus/Larus canus"},
        {"Larus canus": ("Larus hybernus",)},
    ),
    "lsid": (
        ("taxonID,parentNameUsageID,scientificName\nurn:lsid:x:7,,Aves\nurn:lsid:x:8,7,Larus\n"),
        {"Aves", "Aves/Larus"},
        {},
    ),
    "inaturalist": (
        (
            "taxon_id\tancestry\trank_level\trank\tname\tactive\n3\t48460/1\t50\tclass\tAves\t"
            "true\n"
            "4\t48460/1/3\t20\tgenus\tLarus\ttrue\n"
        ),
        {"Aves", "Aves/Larus"},
        {},
    ),
    "itis": (
        (
            "tsn,parent_tsn,accepted_tsn,n_usage,complete_name,rank_name,scientific_name\n1,0,,"
            "valid,,Class,Aves\n"
            "2,1,,valid,,Genus,Larus\n3,1,2,invalid,,Genus,Gavia\n"
        ),
        {"Aves", "Aves/Larus"},
        {"Larus": ("Gavia",)},
    ),
    "museum": (
        ("Ordnung;Familie;Gattung;Art;Deutscher Name\nMöwen;Laridae;Larus;canus;Sturmmöwe\n;;;;\n"),
        {"Möwen", "Möwen/Laridae", "Laridae/Larus", "Larus/Larus canus"},
        {"Larus canus": ("Sturmmöwe@de",)},
    ),
    "ranks-with-gaps": (
        ("order,family,species\nCarnivora,,Vulpes vulpes\nCarnivora,Felidae,\n"),
        {"Carnivora", "Carnivora/Vulpes vulpes", "Carnivora/Felidae"},
        {},
    ),
    "levels": (
        (
            "Level 1,Level_2,LEVEL 3,Synonyms\nBirds,Gulls,Sand gull,Beach gull\n,Crows,,\n,,"
            "Crow,Corvus\n"
        ),
        {"Birds", "Birds/Gulls", "Gulls/Sand gull", "Birds/Crows", "Crows/Crow"},
        {"Sand gull": ("Beach gull",), "Crow": ("Corvus",)},
    ),
    "parts": (
        (
            "family,genericName,specificEpithet,infraspecificEpithet\nLaridae,Larus,canus,\n"
            "Laridae,Larus,canus,zaphiri\n"
        ),
        {"Laridae", "Laridae/Larus canus", "Laridae/Larus canus zaphiri"},
        {},
    ),
    "ids-as-parent": ("id,name,parent\n1,Bird,\n2,Gull,1\n", {"Bird", "Bird/Gull"}, {}),
    "ids-of-pandas": ("id,name,parent_id\n1,Bird,\n2,Gull,1.0\n", {"Bird", "Bird/Gull"}, {}),
    "wikidata": (
        (
            "taxon,taxonLabel,parent,parentLabel\nhttp://w/Q1,Canis lupus,http://w/Q2,Canis\n"
            "http://w/Q2,Canis,http://w/Q3,Canidae\nhttp://w/Q3,Canidae,,\n"
        ),
        {"Canidae", "Canidae/Canis", "Canis/Canis lupus"},
        {},
    ),
    "lineage": (
        "name,lineage\nBird,Animal\nGull,Animal; Bird\n",
        {"Animal", "Animal/Bird", "Bird/Gull"},
        {},
    ),
    "parents-of-python": ("name,parent\nBird,None\nGull,Bird\n", {"Bird", "Bird/Gull"}, {}),
    "a-class-none": ("name,parent\nnone,\nGull,none\n", {"none", "none/Gull"}, {}),
    "parents-under-any-name": (
        "Name;Gruppe;Bemerkung\nBird;;x\nGull;Bird;\nTern;Bird;\n",
        {"Bird", *BIRDS},
        {},
    ),
    "no-parents": ("name,nickname\nBird,Bird\nGull,Bird\n", {"Bird", "Gull"}, {}),
    "ranks-where-they-change": (
        ("order,family,genus,species\nA,F,G,x\n,,,y\n,,H,z\n,E,,\nB,D,,\n,,I,\n"),
        {"A", "A/F", "F/G", "G/G x", "G/G y", "F/H", "H/H z", "A/E", "B", "B/D", "D/I"},
        {},
    ),
    "german": ("Bezeichnung;Übergeordnet\nTier;\nVogel;Tier\n", {"Tier", "Tier/Vogel"}, {}),
    "graph": ("Source,Target,Weight\nBird,Gull,1\n", {"Bird", "Bird/Gull"}, {}),
    "vocabulary": (
        "dwc:taxonID,dwc:parentNameUsageID,dwc:scientificName\n1,,A\n2,1,B\n",
        {"A", "A/B"},
        {},
    ),
    "title-above": (
        "Birds of the lake\n\nchild,parent\nBird,\nGull,Bird\n",
        {"Bird", "Bird/Gull"},
        {},
    ),
    "open-images": ("/m/01,Bird\n/m/02,Gull\n", {"Bird", "Gull"}, {}),
    "teachable-machine": ("0 fox\n1 red deer\n", {"fox", "red deer"}, {}),
    "indented-by-tabs": (
        "Bird\n\tGull\n\t\tHerring\n\tTern\nFox\n",
        {"Bird", *BIRDS, "Gull/Herring", "Fox"},
        {},
    ),
    "indented-by-spaces": (
        "Bird\n  Gull\n    Herring\n  Tern\n",
        {"Bird", *BIRDS, "Gull/Herring"},
        {},
    ),
    "more-dashes": ("Bird\n-Gull\n--Herring\n-Tern\n", {"Bird", *BIRDS, "Gull/Herring"}, {}),
    "markdown": (
        "## Bird\n\n- Gull\n  * Herring\n- Tern\n\n# Fox\n",
        {"Bird", *BIRDS, "Gull/Herring", "Fox"},
        {},
    ),
    "tree": (
        ".\n└── Bird\n    ├── Gull\n    │   └── Herring\n    └── Tern\n",
        {"Bird", *BIRDS, "Gull/Herring"},
        {},
    ),
    "one-name-twice": (
        "Other\nBird\n  Other\n    Auk\n",
        {"Other", "Bird", "Bird/Other", "Other/Auk"},
        {},
    ),
    "paths": ("# by Ada\nBird/Gull\nBird/Tern\nBird\n", {"Bird", *BIRDS}, {}),
    "google": (
        "# Version: 1\n1 - Bird\n2 - Bird > Gull\n3 - Bird > Tern\n4 - Bird > Gull > A, b\n",
        {"Bird", *BIRDS, "Gull/A, b"},
        {},
    ),
    "no-paths": ("male/female\nn/a\n+1\n-1\n", {"male/female", "n/a", "+1", "-1"}, {}),
    "labelme": ("__ignore__\n_background_\nfox\n", {"fox"}, {}),
}


def paths_of(graph: ImportedGraph) -> set[str]:
    """Every class by the names of its parent and itself."""
    names = {each.key: each.name for each in graph.classes}
    below = {child for _, child in graph.edges}
    return {f"{names[a]}/{names[b]}" for a, b in graph.edges} | {
        names[key] for key in names if key not in below
    }


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_others(name: str, tmp_path: Path) -> None:
    """What is above what, and which names are synonyms, wherever it stands."""
    text, paths, synonyms = LISTS[name]
    (tmp_path / "list.txt").write_text(text, encoding="utf-8")
    graph = read_graph(tmp_path / "list.txt")
    assert paths_of(graph) == paths
    assert {
        each.name: each.attributes.synonyms for each in graph.classes if each.attributes.synonyms
    } == synonyms


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("# mine\nBird:\n  Gull:\n    - 'Herring'\n  Tern: []\n", {"Bird", *BIRDS, "Gull/Herring"}),
        ("- Bird:\n  - Gull\n  - Tern\n", {"Bird", *BIRDS}),
        ("Bird:\n- Gull\n- Tern\n", {"Bird", *BIRDS}),
    ],
)
def test_nested_names_in_yaml(text: str, paths: set[str], tmp_path: Path) -> None:
    (tmp_path / "classes.yaml").write_text(text, encoding="utf-8")
    assert paths_of(read_graph(tmp_path / "classes.yaml")) == paths


@pytest.mark.parametrize(
    "text", ["train: x\nval: y\nnc: 1\nnames: ['fox']\n", "- name: Bird\n  children: []\n"]
)
def test_other_yaml_is_refused(text: str, tmp_path: Path) -> None:
    """Its keys are no classes."""
    (tmp_path / "data.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="none of the known formats"):
        read_graph(tmp_path / "data.yaml")


def test_ids_and_ranks_are_kept(tmp_path: Path) -> None:
    """Whatever the parents are named by."""
    (tmp_path / "list.csv").write_text(
        "id,name,parent,rank\n7,Aves,,CLASS\n8,Larus,Aves,genus\n", encoding="utf-8"
    )
    found = {
        each.name: (each.attributes.source_id, each.attributes.rank)
        for each in read_graph(tmp_path / "list.csv").classes
    }
    assert found == {"Aves": ("7", "class"), "Larus": ("8", "genus")}


def test_levels_are_no_ranks(tmp_path: Path) -> None:
    """Levels are not ranks of classes; the user may set such columns."""
    source = tmp_path / "levels.csv"
    source.write_text("Top;Below\nBirds;Crow\n", encoding="utf-8")
    graph = read_graph(source, columns={"level 1": "Top", "level 2": "Below"})
    assert {(each.name, each.attributes.rank) for each in graph.classes} == {
        ("Birds", ""),
        ("Crow", ""),
    }
    assert paths_of(graph) == {"Birds", "Birds/Crow"}


def test_a_person_names_the_columns(tmp_path: Path) -> None:
    """What they say overrides everything; a role or column that is not there is named."""
    path = tmp_path / "list.csv"
    path.write_text("Nr;Sippe;Gruppe\n1;Larus canus;Laridae\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r'found "Nr", "Sippe", "Gruppe".*--column class=NAME'):
        read_graph(path)
    assert paths_of(read_graph(path, columns={"class": "Sippe", "family": "gruppe"})) == {
        "Laridae",
        "Laridae/Larus canus",
    }
    with pytest.raises(
        UsageError, match='no column "Art": expected one of "Nr", "Sippe", "Gruppe"'
    ):
        read_graph(path, columns={"class": "Art"})
    with pytest.raises(UsageError, match='no role "clas": expected one of file, '):
        read_graph(path, columns={"clas": "Sippe"})


def test_a_synonym_of_nothing_is_no_class(tmp_path: Path) -> None:
    """It is counted and named."""
    (tmp_path / "list.csv").write_text(
        "name,status,family\nA b,accepted,X\nA c,synonym,X\n", encoding="utf-8"
    )
    graph = read_graph(tmp_path / "list.csv")
    assert paths_of(graph) == {"X", "X/A b"}
    assert [(each.reason, each.name) for each in graph.left_out] == [
        (LeftOutReason.NO_ACCEPTED, "A c")
    ]
