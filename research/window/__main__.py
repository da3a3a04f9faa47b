"""`python -m research.window PROJECT`: the window, with measurements by environment variables."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.__main__ import open_window

if TYPE_CHECKING:
    from app.main_window import MainWindow


def attach_reports(window: "MainWindow") -> None:
    """Attach the measurements requested by the environment."""
    from research.window.graph_report import attach_graph_report
    from research.window.import_report import attach_import_report
    from research.window.labelling_report import attach_labelling_report
    from research.window.review_report import attach_review_report
    from research.window.startup_report import attach_report

    attach_report(window)
    attach_labelling_report(window)
    attach_graph_report(window)
    attach_review_report(window)
    attach_import_report(window)


if __name__ == "__main__":
    sys.exit(open_window(Path(sys.argv[1]).absolute(), attach=attach_reports))
