"""Names of classes that the source tells apart by ids: siblings of one name get their id behind it."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping

from engine.interchange.imported import clean_name_at


def disambiguated(
    names: Mapping[str, str],
    edges: Collection[tuple[str, str]],
    place: str,
    *,
    id_of: Callable[[str], str] = str,
) -> dict[str, str]:
    """Give siblings of one name different ones, as in "crane (n02012849)".

    Args:
        names: clean name of each class by its key.
        edges: (parent key, child key).
        place: what the classes come from, for the error.
        id_of: the id that a key stands for, as people know it; by default the key itself.

    Returns:
        Name of each class by its key; siblings differ, also those at the top level, if their ids do.

    Raises:
        FormatError: a name with its id cannot be the name of a class.
    """
    children = {child for _, child in edges}
    places = [*edges, *(("", key) for key in names if key not in children)]
    counts = Counter((parent, names[key]) for parent, key in places)
    clashing = {key for parent, key in places if counts[parent, names[key]] > 1}
    return {
        key: clean_name_at(place, f"{name} ({id_of(key)})") if key in clashing else name for key, name in names.items()
    }
