"""A whole XML file that holds a taxonomy."""

from pathlib import Path

from engine.interchange.taxonomy_file import check_parts, taxonomy_bytes
from engine.interchange.xml_trees import Tree, xml_tree


def taxonomy_tree(source: Path) -> Tree:
    """Parse a file; see `engine.interchange.xml_trees.xml_tree`.

    Raises:
        StorageError: it cannot be read.
        FormatError: it is not well-formed, declares entities, or holds more elements than taxonomies do.
    """
    data = taxonomy_bytes(source)
    check_parts(data.count(b"<"), source.name)
    return xml_tree(data, source.name)
