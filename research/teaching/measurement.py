"""Measure methods and draws that are not stored yet, on one backbone's embeddings."""

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
    is_from_scratch: bool = False,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[TeachResult, ...]:
    """Simulate labelling by each method; draws stored in `runs` are read from there.

    Args:
        embedded: the collection.
        methods: identifiers.
        draws: in each of which every method gets the same images.
        runs: folder for results of draws; none are stored when None.
        is_from_scratch: whether to ignore results in `runs`.
        on_progress: called with draws of methods.
        cancel: stops between two draws.

    Raises:
        FormatError: a file in `runs` is corrupt.
        StorageError: `runs` cannot be written.
        Cancelled: `cancel` was set.
    """
    identity = embedded.collection.identity
    cells = [TeachCell.of(identity, embedded.model, method) for method in methods]
    known = [
        [] if runs is None or is_from_scratch else list(results.read(cell, runs)) for cell in cells
    ]
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
