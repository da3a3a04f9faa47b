"""The worker: this program as a child process that does heavy work for another one."""

import sys

from engine.jobs.handlers import handlers
from engine.worker.serve import serve_standard_streams


def main() -> int:
    """Answer requests until standard input ends."""
    return serve_standard_streams(handlers())


if __name__ == "__main__":
    sys.exit(main())
