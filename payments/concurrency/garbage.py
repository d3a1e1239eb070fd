"""How long-running processes use Python's garbage collector."""

import gc

THRESHOLD = 10_000


def begin_to_load() -> None:
    """Stop garbage collection until `end_loading`: while a process loads its modules, nothing of them is garbage."""
    gc.disable()


def end_loading() -> None:
    """Exclude what was loaded from garbage collection, and collect the rest again.

    Collecting while a command loads, and once more when it ends, took a fourth of its CPU time (1.5 beside 2.1 s).
    """
    gc.freeze()
    gc.enable()


def freeze_loaded_objects() -> None:
    """Exclude what the process has loaded by now from garbage collection, and collect the rest less often.

    Call it once a process has loaded what it runs. Collecting those objects took a fifth of a busy worker's time, and
    stopped all requests of a web server for 0.1 to 0.4 s at once. Most objects made later are freed without the
    collector.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(THRESHOLD)


def collect_after_page() -> None:
    """Collect what a page of the staff's has left, some thousand objects that refer to each other, within 1 to 3 ms.

    Left to itself, the collector comes after a dozen pages and stops all requests of a web server for 20 to 50 ms.
    """
    gc.collect(1)


def collect_after_piece() -> None:
    """Collect what a piece of a file has left, within 1 ms, and keep the pages that are being made meanwhile young.

    What has become old is left to a full collection, which stops all requests of a web server for 40 to 200 ms.
    """
    gc.collect(0)
