"""What Xendit lists as moved, page by page: nothing of ours is passed over, and nothing unclear is guessed."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from payments import clock
from payments.providers.done_there import DoneThere, NotListed
from payments.providers.http import Reply, Unanswered
from payments.providers.references import trial_reference
from payments.providers.xendit.client import XenditClient
from payments.providers.xendit.lookups import records
from tests.providers.bench import AMOUNT, Spoilt, begun, operation, redirected, taken
from tests.providers.xendit.bench import URL, XenditBench

SINCE, UNTIL = datetime(2026, 11, 25, 10, tzinfo=UTC), datetime(2026, 11, 25, 11, tzinfo=UTC)
OURS = "0190a1fc472c7874b1b67520502f7850"
ROW = {
    "id": "txn_1",
    "product_id": "py-1",
    "type": "PAYMENT",
    "status": "SUCCESS",
    "reference_id": OURS,
    "currency": "PHP",
    "amount": 100,
    "created": "2026-11-25T10:30:00.000Z",
    "product_data": {"payment_request_id": "pr-1"},
}
TAKEN = DoneThere("", "pr-1", OURS, "capture", 10_000, "PHP", datetime(2026, 11, 25, 10, 30, tzinfo=UTC))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PAUSES_SECONDS", (0.0, 0.0))


def done(bench: XenditBench, since: datetime | None = None, until: datetime | None = None) -> list[DoneThere]:
    now = clock.now()
    return list(bench.connector.done_between(since or now - timedelta(hours=1), until or now))


def listed(*pages: Mapping[str, Any]) -> list[DoneThere]:
    """Return what is read of these pages."""
    answers = iter(pages)

    def send(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        return Reply(200, {}, json.dumps(next(answers)).encode())

    return list(records.done_between(XenditClient(URL, "key", send), SINCE, UNTIL))


def page(*rows: Mapping[str, Any], has_more: Any = False) -> dict[str, Any]:
    return {"has_more": has_more, "links": [], "data": list(rows)}


def test_money_that_was_taken_at_once_is_a_capture_without_a_name(bench: XenditBench) -> None:
    payment = taken(bench)
    [found] = done(bench)
    assert (found.reference, found.payment_reference, found.kind) == ("", payment.reference, "capture")
    assert (found.provider_ref, found.amount, found.currency) == (payment.provider_ref, AMOUNT, "PHP")


def test_what_is_held_or_open_is_not_listed(bench: XenditBench) -> None:
    taken(bench, capture=False)
    begun(bench, redirected(bench))
    assert done(bench) == []


def test_a_refund_names_itself_and_its_payment(bench: XenditBench) -> None:
    payment = taken(bench)
    refund = operation("refund", payment, amount=1_000)
    bench.connector.refund(refund)
    *_, found = done(bench)
    assert (found.reference, found.payment_reference, found.kind) == (refund.reference, payment.reference, "refund")
    assert (found.amount, found.has_failed) == (1_000, False)


def test_a_refund_that_failed_says_so(bench: XenditBench) -> None:
    bench.connector.refund(operation("refund", taken(bench), amount=1_000))
    [refund] = bench.fake.books.refunds.values()
    bench.fake.books.fail_refund(refund)
    assert done(bench)[-1].has_failed


def test_a_refund_that_xendit_does_not_describe_is_as_it_is_listed(bench: XenditBench) -> None:
    payment = taken(bench)
    refund = operation("refund", payment, amount=1_000)
    bench.connector.refund(refund)
    [made] = bench.fake.books.refunds.values()
    found = done(bench)[-1]
    bench.fake.hidden.add(made.id)
    assert done(bench)[-1] == found


def test_a_payment_is_asked_for_once_however_many_refunds_it_has(bench: XenditBench) -> None:
    payment = taken(bench)
    for _ in range(2):
        bench.connector.refund(operation("refund", payment, amount=1_000))
        bench.let_pass()
    bench.fake.requests.clear()
    done(bench)
    looked_up = [each.path for each in bench.fake.requests if each.path.startswith("/v3/payment_requests/")]
    assert looked_up == [f"/v3/payment_requests/{payment.provider_ref}"]


def test_what_began_before_and_was_done_since_is_listed(bench: XenditBench) -> None:
    payment = taken(bench)
    [request] = bench.fake.books.requests.values()
    request.created -= timedelta(days=3)
    assert [found.payment_reference for found in done(bench)] == [payment.reference]


def test_what_did_not_change_since_is_not_listed(bench: XenditBench) -> None:
    taken(bench)
    [request] = bench.fake.books.requests.values()
    request.created = request.updated = clock.now() - timedelta(hours=2)
    assert done(bench) == []


def test_what_began_afterwards_is_not_listed(bench: XenditBench) -> None:
    taken(bench)
    assert done(bench, until=clock.now() - timedelta(minutes=1)) == []


def test_what_somebody_else_asked_for_is_passed_over(bench: XenditBench) -> None:
    taken(bench, reference="order-1")
    taken(bench, reference=trial_reference())
    assert done(bench) == []


def test_every_page_is_read_and_the_oldest_comes_first(bench: XenditBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PAGE", 2)
    payments = [taken(bench) for _ in range(5)]
    bench.fake.requests.clear()
    assert [found.payment_reference for found in done(bench)] == [payment.reference for payment in payments]
    assert len(bench.fake.requests) == 3


@pytest.mark.parametrize("how", [Spoilt.DOWN])
def test_a_lookup_that_failed_is_repeated(bench: XenditBench, how: Spoilt) -> None:
    taken(bench)
    bench.fake.spoil_all([how, how])
    assert len(done(bench)) == 1


def test_a_provider_that_never_answers_lists_nothing() -> None:
    asked_for = []

    def send(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        asked_for.append(url)
        raise Unanswered("timed out")

    with pytest.raises(NotListed, match="it did not answer: no answer: timed out"):
        records.done_between(XenditClient(URL, "key", send), SINCE, UNTIL)
    assert len(asked_for) == 3


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_provider_that_is_busy_is_asked_again(status: int) -> None:
    answers = iter([Reply(status, {}, b"{}"), Reply(200, {}, json.dumps(page(ROW)).encode())])
    client = XenditClient(URL, "key", lambda *_: next(answers))
    assert list(records.done_between(client, SINCE, UNTIL)) == [TAKEN]


def test_a_refusal_is_not_repeated(bench: XenditBench) -> None:
    client = XenditClient(bench.fake.address, "another key")
    with pytest.raises(NotListed, match="it refused: INVALID_API_KEY"):
        records.done_between(client, SINCE, UNTIL)
    assert len(bench.fake.requests) == 1


def test_a_list_without_an_end_is_refused() -> None:
    with pytest.raises(NotListed, match="its list has no end"):
        listed(page(ROW, has_more=True), page(ROW, has_more=True))
    with pytest.raises(NotListed, match="its list has no end"):
        listed(page(has_more=True))


def test_a_list_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PAGES_MAX", 2)
    with pytest.raises(NotListed, match="it lists more than 100 movements: ask for a shorter time"):
        listed(*(page(ROW | {"id": f"txn_{number}"}, has_more=True) for number in range(3)))


@pytest.mark.parametrize(
    "body", [{"data": [ROW]}, {"has_more": "no", "data": [ROW]}, {"has_more": False}, {"has_more": False, "data": {}}]
)
def test_a_page_that_cannot_be_read_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(NotListed, match="its list cannot be read"):
        listed(body)


@pytest.mark.parametrize(
    "members",
    [
        {"amount": "100"},
        {"amount": 100.001},
        {"amount": 0},
        {"amount": None},
        {"currency": "pesos"},
        {"currency": None},
        {"created": "yesterday"},
        {"created": None},
    ],
    ids=str,
)
def test_money_of_ours_that_cannot_be_read_is_refused_by_name(members: dict[str, Any]) -> None:
    with pytest.raises(NotListed, match="its movement txn_1 cannot be read"):
        listed(page(ROW | members))


@pytest.mark.parametrize("status", ["PENDING", "FAILED", "VOIDED", "REVERSED", None])
def test_a_payment_in_another_state_took_no_money(status: str | None) -> None:
    assert listed(page(ROW | {"status": status})) == []


JSON = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@settings(deadline=None)
@given(members=st.dictionaries(st.sampled_from(sorted(ROW.keys() - {"type"})), JSON | st.lists(JSON, max_size=2)))
def test_whatever_is_listed_is_read_or_refused(members: dict[str, Any]) -> None:
    try:
        found = listed(page(ROW | members))
    except NotListed:
        return
    assert all((each.kind, each.currency) == ("capture", members.get("currency", "PHP")) for each in found)
