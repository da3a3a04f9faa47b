"""Run all instruments with given counts, and print the table of results.

Run: python -m tests.trust --kills 1000 --twins 2000 --out FILE, with any of the options below;
`make trust` gives all.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from engine import __version__
from tests.trust.activities import ACTIVITIES
from tests.trust.cache_breaker import break_caches
from tests.trust.cluster_breaker import break_many as break_clusters
from tests.trust.copier import copy_many
from tests.trust.damaged_twins import restore_many
from tests.trust.data_set_guests import open_guests
from tests.trust.disk_filler import can_fill, fill_many
from tests.trust.export_targets import aim_many
from tests.trust.image_mutator import break_many
from tests.trust.killer import kill_many
from tests.trust.label_twins import import_many
from tests.trust.odd_arguments import ask_many
from tests.trust.odd_texts import open_odd
from tests.trust.outcome import Outcome, table
from tests.trust.project_mutator import damage_many
from tests.trust.reader_breaker import break_readers
from tests.trust.renamer import move_many
from tests.trust.special_files import open_many
from tests.trust.stages import Stage, build_stage
from tests.trust.trials import PROCESSES
from tests.trust.trios import merge_many

TABLE_START = "<!-- table: written by `make trust` -->"
TABLE_END = "<!-- end of the table -->"
_SHOWN = 60


@dataclass(frozen=True)
class Instrument:
    """An instrument and its option.

    Attributes:
        option: of the command line; its value is the number of trials.
        run: takes the stage, a count, a seed and a callback after each trial.
        takes_names: whether it also takes names of activities.
    """

    option: str
    title: str
    run: Callable[..., Outcome]
    takes_names: bool = False


INSTRUMENTS = (
    Instrument("kills", "activities killed at a random moment", kill_many, takes_names=True),
    Instrument("damaged", "damaged projects", damage_many),
    Instrument("images", "broken images", break_many),
    Instrument("caches", "cache files of large collections", break_caches),
    Instrument("copies", "copies of an open project", copy_many),
    Instrument("moves", "renames and replacements", move_many),
    Instrument("restores", "damaged twins and restores", restore_many),
    Instrument("disks", "full disks", fill_many, takes_names=True),
    Instrument("targets", "targets of exports", aim_many),
    Instrument("specials", "special files as inputs", open_many),
    Instrument("arguments", "odd arguments and signals", ask_many),
    Instrument("readers", "readers killed, hung and starved", break_readers),
    Instrument("clusters", "runs on a cluster broken off", break_clusters),
    Instrument("texts", "odd texts from elsewhere", open_odd),
    Instrument("guests", "data sets beside five projects", open_guests),
    Instrument("twins", "label imports between twin projects", import_many),
    Instrument("trios", "three copies merged", merge_many),
)


def main(arguments: Sequence[str]) -> int:
    """Run the instruments; the exit status is 1 if a guarantee was broken."""
    asked = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="trust-") as folder:
        started = time.monotonic()
        stage = build_stage(Path(folder) / "stage")
        rows = [
            _run(instrument, stage, count, asked)
            for instrument in INSTRUMENTS
            if (count := getattr(asked, instrument.option))
        ]
        minutes = (time.monotonic() - started) / 60
    report = _report(rows, asked, minutes)
    sys.stdout.write(f"{report}\n")
    _write_faults(rows)
    if asked.out is not None:
        _write_report(asked.out, report)
    return int(any(row.broken for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description=__doc__)
    for instrument in INSTRUMENTS:
        parser.add_argument(
            f"--{instrument.option}", type=int, default=0, metavar="COUNT", help=instrument.title
        )
    parser.add_argument("--seed", type=int, default=1, help="of all chance")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        choices=ACTIVITIES,
        metavar="ACTIVITY",
        help="of kills and full disks",
    )
    parser.add_argument("--out", type=Path, help="Markdown file for the table")
    return parser


def _run(instrument: Instrument, stage: Stage, count: int, asked: argparse.Namespace) -> Outcome:
    if instrument.run is fill_many and not can_fill(stage):
        sys.stderr.write("full disks: left out, this system lets nobody mount a small disk\n")
        return Outcome(f"{instrument.title} (not possible here)")
    done, started, is_shown = 0, time.monotonic(), sys.stderr.isatty()

    def on_trial() -> None:
        nonlocal done
        done += 1
        if is_shown or done % max(1, count // 10) == 0:
            seconds = time.monotonic() - started
            end = "\r" if is_shown else "\n"
            sys.stderr.write(f"{instrument.title}: {done:,} of {count:,}, {seconds:,.0f} s{end}")
            sys.stderr.flush()

    names = {"names": tuple(asked.only)} if instrument.takes_names else {}
    row = instrument.run(stage, count, seed=asked.seed, on_trial=on_trial, **names)
    sys.stderr.write(
        f"{instrument.title}: {count:,} in {time.monotonic() - started:,.0f} s, {len(row.broken)} "
        f"faults\n"
    )
    return row


def _report(rows: Sequence[Outcome], asked: argparse.Namespace, minutes: float) -> str:
    options = " ".join(
        f"--{each.option} {count}" for each in INSTRUMENTS if (count := getattr(asked, each.option))
    )
    options += f" --only {' '.join(asked.only)}" if asked.only else ""
    facts = (
        f"Protoleaf {__version__}, {datetime.now(UTC):%Y-%m-%d}, {platform.system()} "
        f"{platform.machine()}, Python "
        f"{platform.python_version()}, {PROCESSES} trials at once on {os.cpu_count()} cores, "
        f"{minutes:.0f} min:"
    )
    return f"`python -m tests.trust {options} --seed {asked.seed}`\n\n{facts}\n\n{table(rows)}"


def _write_faults(rows: Sequence[Outcome]) -> None:
    for row in rows:
        worst_first = sorted(row.faults, key=lambda fault: fault.kind == "stray")
        for fault in worst_first[:_SHOWN]:
            sys.stdout.write(f"{row.instrument}: {fault.kind}: {fault.text}\n")
        if len(worst_first) > _SHOWN:
            sys.stdout.write(f"{row.instrument}: and {len(worst_first) - _SHOWN:,} more\n")


def _write_report(path: Path, report: str) -> None:
    """Write the report between the marks of a page, or to a new page."""
    text = path.read_text(encoding="utf-8") if path.exists() else f"{TABLE_START}\n{TABLE_END}\n"
    before, _, rest = text.partition(TABLE_START)
    _, _, after = rest.partition(TABLE_END)
    path.write_text(f"{before}{TABLE_START}\n{report}\n{TABLE_END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
