"""A test is read without many other files open: it knows at most two helper modules of its own room."""

import ast
from collections.abc import Iterator
from pathlib import Path

from payments.embedded.folders import PROJECT

TESTS = PROJECT / "tests"
HELPERS_MAX = 2
# Those that know more, by how many. It only shrinks: a file that knows fewer, or is gone, moves up or out.
REMAINING = {
    3: (
        "admin/test_pages benchmark/tests/test_calls deploy/test_image deploy/two_hosts/test_guide "
        "faults/test_checkouts faults/test_histories fuzz/test_found neighbours/test_neighbours "
        "operators/test_pages operators/test_together payouts/test_approve payouts/test_files "
        "provider_events/live/test_xendit_disputes provider_events/live/test_xendit_responses "
        "providers/contract/test_payouts providers/xendit/test_disputes providers/xendit/test_lookups "
        "web/test_health_checks web/test_limited_pages web/test_waits"
    ),
    4: (
        "canaries/test_in_process contract/scopes/test_scopes faults/test_payouts faults/test_proxy "
        "providers/adyen/test_bodies providers/adyen/test_responses providers/prism/test_responses "
        "providers/xendit/test_responses web/test_turns"
    ),
    5: (
        "benchmark/tests/test_figures invariants/test_invariants providers/adyen/test_client "
        "providers/contract/test_disputes providers/xendit/test_answers"
    ),
    6: "faults/test_kills providers/xendit/test_operations",
    9: "canaries/test_canaries",
}


def test_a_test_knows_at_most_two_helpers_of_its_own_room() -> None:
    files = {str(file.relative_to(TESTS).with_suffix("")): file for file in TESTS.rglob("test_*.py")}
    known = {name: len({*helpers_of(file)}) for name, file in files.items()}
    remaining = {name: count for count, names in REMAINING.items() for name in names.split()}
    assert {name: count for name, count in known.items() if count > HELPERS_MAX} == remaining


def helpers_of(file: Path) -> Iterator[Path]:
    """Yield the modules of the file's room that it imports and that are no tests; all share `support`."""
    room, *inner = file.relative_to(TESTS).parts
    for node in ast.walk(ast.parse(file.read_text())) if inner else ():
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"tests.{room}"):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            modules = [PROJECT / f"{name.replace('.', '/')}.py" for name in names]
            yield from (module for module in modules if module.exists() and not module.name.startswith("test_"))
