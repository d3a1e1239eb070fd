"""Files that are read slowly keep no connection from others meanwhile."""

import gc
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from itertools import islice
from threading import Lock
from weakref import WeakSet

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from payments.admin.audit import audit_log as audit_pages
from payments.admin.lists import file, page
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import AuditEntry
from tests.contract.lists.many_charges import sell
from tests.factories import MerchantFactory


class Cycle:
    """An object that only the garbage collector frees."""

    def __init__(self) -> None:
        self.itself = self


pytestmark = pytest.mark.django_db(transaction=True)


def test_a_download_of_the_audit_log_holds_no_connection_while_it_is_read(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_pages, "AT_ONCE", 2)
    monkeypatch.setattr(file, "PIECE_BYTES", 1)
    for _ in range(5):
        audit_log.record(Action.CHANGED, MerchantFactory())
    seen = []
    response = operator.get(reverse("admin:payments_auditentry_export"))
    for _ in response.streaming_content:
        seen.append(connection.connection)
    assert set(seen[1:]) == {None}
    # A line each, and the heads.
    assert len(seen) == AuditEntry.objects.count() + 1


def test_a_download_of_a_list_holds_no_connection_while_it_is_read(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "ROWS_AT_ONCE", 1)
    monkeypatch.setattr(file, "PIECE_BYTES", 1)
    sell(MerchantFactory(), 3)
    response = operator.post(reverse("admin:payments_charge_csv"))
    seen = [connection.connection for _ in response.streaming_content]
    # The heads, and then each row as it was read.
    assert len(seen) == 4
    assert set(seen[1:]) == {None}


def test_a_download_of_a_list_keeps_no_rows_while_it_is_read() -> None:
    rows = [object()]
    lines = file.list_lines([rows], {"id": str}, UTC, lambda: True)
    assert b"object" in list(islice(lines, 2))[-1]
    assert rows == []


def test_after_a_piece_what_it_left_is_collected_and_nothing_else_is_old() -> None:
    page, left = Cycle(), WeakSet[Cycle]()

    def lines() -> Iterator[bytes]:
        left.add(Cycle())
        yield b"one of many"

    gc.disable()
    try:
        assert list(file.Lines(lines(), lambda: None)) == [b"one of many"]
        assert not left
        assert all(each is not page for each in gc.get_objects(generation=2))
    finally:
        gc.enable()


def test_a_file_is_sent_in_large_pieces() -> None:
    lines = [b"one of many\n"] * 10_000
    pieces = list(file.Lines(lines, lambda: None))
    assert b"".join(pieces) == b"".join(lines)
    assert all(len(piece) >= file.PIECE_BYTES for piece in pieces[:-1])


def test_of_a_crowd_of_downloads_one_is_made_at_the_same_moment() -> None:
    making, most, lock = 0, 0, Lock()

    def lines() -> Iterator[bytes]:
        nonlocal making, most
        for _ in range(20):
            with lock:
                making += 1
                most = max(most, making)
            os.sched_yield()
            with lock:
                making -= 1
            yield b"x" * file.PIECE_BYTES

    with ThreadPoolExecutor(8) as readers:
        sizes = list(readers.map(lambda _: len(b"".join(file.Lines(lines(), lambda: None))), range(8)))
    assert sizes == [20 * file.PIECE_BYTES] * 8
    assert most == 1
