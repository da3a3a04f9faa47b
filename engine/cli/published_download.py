"""A published network on the command line: a question before anything is downloaded."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import typer

from engine.cli.output import progress_bar
from engine.cli.stopping import stoppable
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.events import OnProgress, Progress

if TYPE_CHECKING:
    from engine.backbones.model_files import ModelFiles
    from engine.backbones.published.facts import PublishedNetwork
    from engine.backbones.published.route import Route

_GO_ON: Final = "run the same command again to resume the download"
_MEGA: Final = 1_000_000  # of bytes


def fetched(
    source: str,
    *,
    weights: str | None = None,
    input_side: int | None = None,
    yes: bool = False,
    route: "Route",
    keep_weights: bool = False,
) -> tuple["PublishedNetwork", "ModelFiles"]:
    """A published network in the library, downloaded after a question when it is not there; see `add_published`.

    Args:
        yes: size and licence were agreed to: tell them, and do not ask.

    Raises:
        UsageError: it must be downloaded, nobody can be asked, and `yes` was not given; tells size and licence.
    """
    from engine.backbones.library import BackboneLibrary
    from engine.backbones.published.catalogue import find_published
    from engine.backbones.published.networks import add_published

    caches = CacheFolders.default()
    facts = find_published(caches, source, weights, input_side=input_side, route=route)
    if facts.library_name not in BackboneLibrary().names():
        _agree(facts, route, yes=yes)
    with stoppable(_GO_ON) as cancel, progress_bar(facts.network) as on_progress:
        files = add_published(
            facts,
            caches,
            route=route,
            keep_weights=keep_weights,
            on_progress=_in_megabytes(on_progress),
            cancel=cancel,
        )
    return facts, files


def _agree(facts: "PublishedNetwork", route: "Route", *, yes: bool) -> None:
    """Tell size and licence before anything is downloaded, and ask unless that was agreed to before."""
    terms = f"{facts.described} must be downloaded: {facts.terms}"
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(terms, remedy="add --yes to agree")
    typer.echo(f"{terms}, from {route.folder or urlsplit(route.address(facts.url)).hostname}", err=True)
    if not yes:
        typer.confirm("Download it?", abort=True, err=True)


def _in_megabytes(on_progress: OnProgress) -> OnProgress:
    def tell(progress: Progress) -> None:
        if progress.unit == "bytes":
            done, total, rate = (value / _MEGA for value in (progress.done, progress.total, progress.rate_per_s))
            progress = replace(progress, done=round(done), total=round(total), unit="MB", rate_per_s=rate)
        on_progress(progress)

    return tell
