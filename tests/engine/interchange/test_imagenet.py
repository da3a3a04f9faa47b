"""The hierarchy as ImageNet publishes it."""

from pathlib import Path

import pytest

from engine.errors import AmbiguousClassError, FormatError, StorageError, UnknownClassError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.detect import read_graph
from engine.interchange.imported import ImportedGraph
from engine.interchange.taxonomies.wordnet import read_imagenet

EDGES = """n00000001 n00000002
n00000001 n00000003
n00000002 n00000004
n00000002 n00000005

n00000003 n00000006
n00000003 n00000005
"""
WORDS = """n00000001\tbeing
n00000002\tbird
n00000003\tmachine
n00000004\tcrane, wading bird
n00000005\tcrane, Crane's thing
n00000006\tcrane, derrick
n00000099\tnowhere
"""


def hierarchy(folder: Path, edges: str = EDGES, words: str = WORDS) -> Path:
    """Write both files; returns the edges file."""
    (folder / "words.txt").write_text(words, encoding="utf-8", newline="\r\n")
    path = folder / "wordnet.is_a.txt"
    path.write_text(edges, encoding="utf-8", newline="\r\n")
    return path


def keys_of(graph: ImportedGraph) -> set[int]:
    """The numbers of the classes."""
    return {int(each.key[1:]) for each in graph.classes}


def test_names_and_synonyms(tmp_path: Path) -> None:
    """The first word is the name, others are synonyms; siblings of one name get their id."""
    graph = read_imagenet(hierarchy(tmp_path))
    assert {each.key[-1]: each.name for each in graph.classes} == {
        "1": "being",
        "2": "bird",
        "3": "machine",
        "4": "crane (n00000004)",
        "5": "crane (n00000005)",
        "6": "crane (n00000006)",
    }
    aliases = {each.key[-1]: each.attributes for each in graph.classes}
    assert aliases["1"] == ClassAttributes("n00000001")
    assert aliases["6"] == ClassAttributes("n00000006", ("crane", "derrick"))
    assert len(graph.edges) == 6


def test_the_folder_will_do_and_words_may_be_missing_for_a_class(tmp_path: Path) -> None:
    """The folder around the files is enough; a class without words is named by its id."""
    hierarchy(tmp_path, words="n00000001\tbeing\n")
    names = {each.name for each in read_imagenet(tmp_path).classes}
    assert names == {"being", *(f"n0000000{number}" for number in range(2, 7))}


@pytest.mark.parametrize("under", ["n00000003", "machine", "being/machine"])
def test_a_branch(tmp_path: Path, under: str) -> None:
    """A class by id, name or path, and what is below; names are those of the whole."""
    graph = read_graph(hierarchy(tmp_path), "imagenet", under=under)
    assert keys_of(graph) == {3, 5, 6}
    assert graph.edges == (("n00000003", "n00000006"), ("n00000003", "n00000005"))
    assert graph.classes[1].name == "crane (n00000005)"


def test_only_some_classes(tmp_path: Path) -> None:
    """Classes by id, name or synonym with all above them, also within a branch."""
    source = hierarchy(tmp_path)
    assert keys_of(read_graph(source, "imagenet", only={"n00000004"})) == {1, 2, 4}
    assert keys_of(read_graph(source, "imagenet", only={"n00000005"})) == {1, 2, 3, 5}
    assert keys_of(read_graph(source, "imagenet", only={"derrick", "bird"})) == {1, 2, 3, 6}
    assert keys_of(read_graph(source, "imagenet", only={"n00000005"}, under="bird")) == {2, 5}


def test_names_that_fit_none_or_several(tmp_path: Path) -> None:
    """A text that fits no class or several is refused."""
    source = hierarchy(
        tmp_path,
        words=WORDS.replace("\tbird", "\tbird, thing").replace("machine", "machine, thing"),
    )
    with pytest.raises(UnknownClassError, match='no class "nowhere"'):
        read_graph(source, "imagenet", under="nowhere")
    with pytest.raises(
        AmbiguousClassError,
        match='fits 2 classes: expected one, found "being/bird", "being/machine"',
    ):
        read_graph(source, "imagenet", only=["thing"])


@pytest.mark.parametrize(
    ("edges", "words", "message"),
    [
        ("n1 n2 n3\n", WORDS, "line 1 of wordnet.is_a.txt is not an edge"),
        ("\n\nn1\n", WORDS, "line 3 of wordnet.is_a.txt is not an edge"),
        ("", WORDS, "contains no classes"),
        (
            "n1 n2\nn2 n3\nn3 n1\n",
            "n1\ta\nn2\tb\nn3\tc\n",
            "own ancestor: found .*a > b > c|b > c > a|c > a > b",
        ),
        (EDGES, "n1 word\n", "line 1 of words.txt has no words"),
        (EDGES, "n1\ta\nn2\t , \n", "line 2 of words.txt has no words"),
    ],
)
def test_what_is_wrong_and_where(tmp_path: Path, edges: str, words: str, message: str) -> None:
    """Each mistake is reported with its line, a cycle with its names."""
    with pytest.raises(FormatError, match=message):
        read_imagenet(hierarchy(tmp_path, edges, words))


def test_words_must_lie_beside(tmp_path: Path) -> None:
    """Without words.txt the hierarchy has no names, and the message says which file is missed."""
    source = hierarchy(tmp_path)
    (tmp_path / "words.txt").unlink()
    with pytest.raises(StorageError, match=r"words\.txt"):
        read_imagenet(source)
