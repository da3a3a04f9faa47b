"""Measures what is missing of methods and draws on one backbone's embeddings."""

from collections.abc import Sequence
from pathlib import Path

from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from research.teaching import results
from research.teaching.methods import METHODS
from research.teaching.person import ScriptedPerson
from research.teaching.results import TaughtDraw, TeachCell, TeachResult
from research.transfer.embedded import EmbeddedCollection


def measure_teaching(
    embedded: EmbeddedCollection,
    methods: Sequence[str],
    draws: int,
    *,
    runs: Path | None = None,
    is_anew: bool = False,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[TeachResult, ...]:
    """Let a scripted person label by each method; draws that `runs` has already are taken from there.

    Args:
        embedded: the collection.
        methods: identifiers.
        draws: in each of which every method gets the same images.
        runs: folder where each draw is kept as soon as it is measured; nothing is kept when None.
        is_anew: whether to measure again what `runs` has.
        on_progress: called with draws of methods.
        cancel: stops between two draws.

    Raises:
        FormatError: a file in `runs` is torn.
        StorageError: `runs` refuses.
        Cancelled: it was asked to stop.
    """
    identity = embedded.collection.identity
    cells = [TeachCell.of(identity, embedded.model, method) for method in methods]
    known = [[] if runs is None or is_anew else list(results.read(cell, runs)) for cell in cells]
    meter = ProgressMeter(len(methods) * draws, on_progress, unit="draws")
    for seed in range(draws):
        person: ScriptedPerson | None = None
        for cell, found in zip(cells, known, strict=True):
            (cancel or CancelToken()).raise_if_cancelled()
            if len(found) <= seed:
                person = person or ScriptedPerson(embedded, seed)
                found.append(person.label(METHODS[cell.method].choose))
                _keep(cell, found, runs)
            meter.advance()
    return tuple(
        TeachResult(cell, tuple(found[:draws])) for cell, found in zip(cells, known, strict=True)
    )


def _keep(cell: TeachCell, draws: Sequence[TaughtDraw], runs: Path | None) -> None:
    if runs is not None:
        results.write(cell, draws, runs)
