"""Running trials: two at once, each in a temporary folder."""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from tests.trust.children import Ending, Place, run_apart
from tests.trust.outcome import Fault, Outcome, Trial, outcome
from tests.trust.stages import Stage

PROCESSES = 2
_FOLDER = re.compile(r"/\S*/[0-9a-f]{32}/")
Plan = TypeVar("Plan")
OnTrial = Callable[[], None]


def run_trials(
    instrument: str,
    plans: Sequence[Plan],
    trial: Callable[[Plan], Trial],
    on_trial: OnTrial = lambda: None,
) -> Outcome:
    """Run a trial for each plan, two at once; the work is done by child processes.

    Args:
        instrument: name of the row.
        plans: of the trials; also the order of faults.
        trial: runs one.
        on_trial: called after each.
    """

    def counted(plan: Plan) -> Trial:
        found = trial(plan)
        on_trial()
        return found

    with ThreadPoolExecutor(PROCESSES) as pool:
        return outcome(instrument, pool.map(counted, plans))


@contextmanager
def trial_folder(parent: Path) -> Iterator[Path]:
    """Path of a new folder, removed afterwards."""
    folder = parent / uuid4().hex
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Batch:
    """Trials of one child, by seed."""

    first: int
    count: int


@dataclass(frozen=True)
class BatchedTrials:
    """An instrument with many trials per child.

    Attributes:
        instrument: name of the row.
        doing: work of a child in words, for its faults.
        run: runs a batch in a child; returns faults, and the number of successes.
        most: trials per child.
        start_s: timeout of its start.
        trial_s: timeout of each of its trials.
    """

    instrument: str
    doing: str
    run: Callable[[Place, Batch], tuple[list[Fault], int]]
    most: int
    start_s: float
    trial_s: float

    def outcome(self, stage: Stage, count: int, *, seed: int, on_trial: OnTrial) -> Outcome:
        """Run trials."""
        size = min(self.most, max(1, -(-count // PROCESSES)))
        plans = [
            Batch(seed * 1_000_000 + start, min(size, count - start))
            for start in range(0, count, size)
        ]
        row = run_trials(self.instrument, plans, lambda plan: self._apart(stage, plan, on_trial))
        return Outcome(row.instrument, count, row.acknowledged, row.faults, row.peak_bytes)

    def _apart(self, stage: Stage, batch: Batch, on_trial: OnTrial) -> Trial:
        with trial_folder(stage.folder) as folder:
            folder.mkdir()
            place = Place(folder)
            limit_s = self.start_s + self.trial_s * batch.count
            ending = run_apart(place, self.run, place, batch, limit_s=limit_s)
            faults, done = ending.answer or ([], 0)
            if ending.answer is None:
                faults = ending_faults(
                    ending, f"{self.doing} from seed {batch.first}", place.output()
                )
            for _ in range(batch.count):
                on_trial()
            return Trial(done, tuple(faults), ending.peak_bytes)


def ending_faults(ending: Ending, doing: str, output: str) -> list[Fault]:
    """Faults of a child's end: exceptions, hangs and crashes.

    Args:
        ending: how it ended.
        doing: its work, in words.
        output: its output.
    """
    if ending.is_hang:
        return [Fault("hang", f"{doing}: no end at {_last_lines(output)[-80:]}")]
    if ending.error:
        return [Fault("traceback", f"{doing}: {_last_lines(ending.error)}")]
    if ending.is_crash:
        return [
            Fault(
                "traceback", f"{doing}: died with status {ending.exit_code} {_last_lines(output)}"
            )
        ]
    return (
        [Fault("traceback", f"{doing}: {_last_lines(output)}")]
        if "Traceback (most" in output
        else []
    )


def named(faults: Sequence[Fault], name: str) -> tuple[Fault, ...]:
    """The faults with a prefix."""
    return tuple(
        Fault(fault.kind, f"{name}: {_FOLDER.sub('', fault.text)}", fault.count) for fault in faults
    )


def _last_lines(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return " | ".join(lines[-3:])[:500]
