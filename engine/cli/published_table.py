"""Published networks as a table on the command line; asks no network."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from engine.cli.output import progress_bar, say
from engine.config import CacheFolders

if TYPE_CHECKING:
    from engine.backbones.published.facts import PublishedNetwork

_NOT_KNOWN: Final = "-"
_TITLES: Final = ("network", "weights", "size", "parameters", "top-1", "side", "width", "licence")
_NUMBERS: Final = frozenset({"size", "parameters", "top-1", "side", "width"})
_GAP: Final = "  "


def list_published_networks(*, publisher: str = "", words: str = "", as_json: bool = False) -> None:
    """Print published networks.

    Args:
        words: only networks in whose names, weights or licence all of them are.
    """
    from engine.backbones.published.catalogue import list_published

    with progress_bar("Listing") as on_progress:
        everything = list_published(CacheFolders.default(), publisher=publisher, on_progress=on_progress)
    wanted = words.casefold().split()
    networks = [network for network in everything if all(word in network.words for word in wanted)]
    say(
        "\n".join([*_table(networks), "", *_notes(networks, len(everything))]),
        {"networks": [network.as_dict() for network in networks]},
        as_json=as_json,
    )


def _table(networks: Sequence["PublishedNetwork"]) -> list[str]:
    rows = [_TITLES, *map(_cells, networks)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(
            text.rjust(width) if title in _NUMBERS else text.ljust(width)
            for title, text, width in zip(_TITLES, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def _cells(network: "PublishedNetwork") -> tuple[str, ...]:
    return (
        network.source,
        f"{network.weights} *" if network.is_default else network.weights,
        network.size_text if network.size_bytes else _NOT_KNOWN,
        f"{network.parameters:,}" if network.parameters else _NOT_KNOWN,
        _NOT_KNOWN if network.top1 is None else f"{network.top1:.1f}%",
        str(network.input_side),
        str(network.embedding_width or _NOT_KNOWN),
        _mark(network),
    )


def _mark(network: "PublishedNetwork") -> str:
    """The licence in the table; what most weights have in common stands below it once."""
    return "" if network.is_unlicensed else network.licence


def _notes(networks: Sequence["PublishedNetwork"], total: int) -> list[str]:
    if not networks:
        return [f"None of {total:,} networks matches. Search for a family, such as resnet."]
    unnamed: dict[str, set[str]] = {}
    for network in networks:
        if network.is_unlicensed:
            unnamed.setdefault(network.licence, set()).add(network.licence_url)
    notes = ["* the publisher's default"]
    for licence, pages in sorted(unnamed.items()):
        notes.append(f"No licence in the table: {licence}{f' ({min(pages)})' if len(pages) == 1 else ''}")
    if any(network.top1 is None for network in networks):
        notes.append("No top-1 accuracy in the table: timm does not bring it along.")
    return [*notes, "", f"Add one with: protoleaf backbone add {networks[0].source}"]
