"""Published networks on the command line: what there is, and a question before anything is downloaded."""

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import typer

from engine.cli.output import progress_bar, say
from engine.cli.stopping import stoppable
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.events import OnProgress, Progress

if TYPE_CHECKING:
    from engine.backbones.model_files import ModelFiles
    from engine.backbones.published.facts import PublishedNetwork

_HEAD: Final = (
    f"{'network':<20}{'weights':<28}{'size':>11}{'parameters':>13}{'top-1':>9}{'side':>6}{'width':>7}  licence"
)
_HOW_TO_ADD: Final = "Add one with: protoleaf backbone add torchvision:NETWORK [--weights WEIGHTS]"
_GO_ON: Final = "run the same command again to resume the download"
_MEGA: Final = 1_000_000


def fetched(
    source: str, *, weights: str | None = None, yes: bool = False, proxy: str = "", keep_weights: bool = False
) -> tuple["PublishedNetwork", "ModelFiles"]:
    """A published network in the library, downloaded after a question when it is not there; see `add_published`.

    Args:
        source: such as "torchvision:resnet50".
        yes: size and licence were agreed to: tell them, and do not ask.

    Raises:
        UsageError: it must be downloaded, nobody can be asked, and `yes` was not given; tells size and licence.
    """
    from engine.backbones.library import BackboneLibrary
    from engine.backbones.published.networks import add_published, find_published

    caches = CacheFolders.default()
    facts = find_published(caches, source, weights)
    if facts.library_name not in BackboneLibrary().names():
        _agree(facts, yes=yes)
    with stoppable(_GO_ON) as cancel, progress_bar(facts.network) as on_progress:
        files = add_published(
            facts,
            caches,
            proxy=proxy,
            keep_weights=keep_weights,
            on_progress=_in_megabytes(on_progress),
            cancel=cancel,
        )
    return facts, files


def list_published_networks(*, as_json: bool = False) -> None:
    """Print every published network; asks no network."""
    from engine.backbones.published.networks import list_published

    with progress_bar("Listing") as on_progress:
        networks = list_published(CacheFolders.default(), on_progress=on_progress)
    say(
        "\n".join([_HEAD, *map(_line, networks), "", *_notes(networks), _HOW_TO_ADD]),
        {"networks": [network.as_dict() for network in networks]},
        as_json=as_json,
    )


def _agree(facts: "PublishedNetwork", *, yes: bool) -> None:
    """Tell size and licence before anything is downloaded, and ask unless that was agreed to before."""
    terms = f"{facts.network} with weights {facts.weights} must be downloaded: {facts.terms}"
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(terms, remedy="add --yes to agree")
    typer.echo(f"{terms}, from {urlsplit(facts.url).hostname}", err=True)
    if not yes:
        typer.confirm("Download it?", abort=True, err=True)


def _in_megabytes(on_progress: OnProgress) -> OnProgress:
    def tell(progress: Progress) -> None:
        if progress.unit == "bytes":
            done, total, rate = (value / _MEGA for value in (progress.done, progress.total, progress.rate_per_s))
            progress = replace(progress, done=round(done), total=round(total), unit="MB", rate_per_s=rate)
        on_progress(progress)

    return tell


def _line(network: "PublishedNetwork") -> str:
    weights = f"{network.weights} *" if network.is_default else network.weights
    return (
        f"{network.network:<20}{weights:<28}{network.size_text:>11}{network.parameters:>13,}{network.top1:>7.1f} %"
        f"{network.input_side:>6}{network.embedding_width:>7}  {_mark(network)}"
    ).rstrip()


def _mark(network: "PublishedNetwork") -> str:
    """The licence in the table; what most weights have in common stands below it once."""
    return "" if network.licence.startswith("none named") else network.licence


def _notes(networks: Iterable["PublishedNetwork"]) -> list[str]:
    unnamed = sorted({f"{network.licence} ({network.licence_url})" for network in networks if not _mark(network)})
    return ["* torchvision's default", *(f"No licence in the table: {text}" for text in unnamed), ""]
