"""A process with readers, which prints them and waits to be killed."""

import sys
import time

import psutil

from engine.embedding.readers import ProcessReaders

if __name__ == "__main__":
    readers = ProcessReaders(2, 32)
    assert readers.wait_until_ready(60)
    children = [str(child.pid) for child in psutil.Process().children()]
    sys.stdout.write(" ".join([*readers.memory_names, *children]) + "\n")
    sys.stdout.flush()
    time.sleep(600)
    sys.exit(1)
