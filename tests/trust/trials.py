"""Running many trials: two at once, each in a folder of its own that goes away afterwards."""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar
from uuid import uuid4

from tests.trust.children import Ending
from tests.trust.outcome import Fault, Outcome, Trial, outcome

PROCESSES: Final = 2
_FOLDER: Final = re.compile(r"/\S*/[0-9a-f]{32}/")
Plan = TypeVar("Plan")
OnTrial = Callable[[], None]


def run_trials(
    instrument: str, plans: Sequence[Plan], trial: Callable[[Plan], Trial], on_trial: OnTrial = lambda: None
) -> Outcome:
    """Run a trial for each plan, two at once; the work itself is done by child processes.

    Args:
        instrument: name of the row.
        plans: what is to be tried; their order is the order of the faults.
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
    """A name for a folder that is not there yet, and is gone afterwards."""
    folder = parent / uuid4().hex
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ending_faults(ending: Ending, doing: str, output: str) -> list[Fault]:
    """What is wrong with how a child ended: it raised, hung, or crashed.

    Args:
        ending: how it ended.
        doing: what it was to do, in words.
        output: what it had written.
    """
    if ending.is_hang:
        return [Fault("hang", f"{doing}: no end at {_last_lines(output)[-80:]}")]
    if ending.error:
        return [Fault("traceback", f"{doing}: {_last_lines(ending.error)}")]
    if ending.is_crash:
        return [Fault("traceback", f"{doing}: died with status {ending.exit_code} {_last_lines(output)}")]
    return [Fault("traceback", f"{doing}: {_last_lines(output)}")] if "Traceback (most" in output else []


def named(faults: Sequence[Fault], name: str) -> tuple[Fault, ...]:
    """The faults with what they belong to before their text."""
    return tuple(Fault(fault.kind, f"{name}: {_FOLDER.sub('', fault.text)}", fault.count) for fault in faults)


def _last_lines(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return " | ".join(lines[-3:])[:500]
