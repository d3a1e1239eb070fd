"""Payouts by Xendit: sent once by their reference, looked up where the outcome is unknown, and never guessed."""

import logging
from collections.abc import Iterator

import pytest
from django.db import IntegrityError, transaction

from payments import clock
from payments.db.writes import StaleRow
from payments.domain import bulkheads
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import provider, send, states
from payments.domain.payouts.accounts import BadPayoutAccount, Details, add_account
from payments.domain.payouts.send import ABSENT_TRIES
from payments.domain.payouts.terms import BadSchedule, Terms, set_schedule
from payments.domain.routing import provider_accounts
from payments.inbox import rows
from payments.models import Event, Payout, ProviderAccount
from payments.providers import http
from tests.charging.elapsed_time import let_time_pass
from tests.ledger.books import standing
from tests.payouts.at_xendit import AMOUNT, NUMBER, LiveShop, again, live_shop
from tests.payouts.stories import give_account
from tests.providers.bench import Spoilt

pytestmark = pytest.mark.django_db

# What the ledger says of money under way, of money that has left, and of money that came back.
UNDER_WAY = {"merchant_payable": AMOUNT, "payouts_in_transit": -AMOUNT}
LEFT = {"merchant_payable": AMOUNT, "bank": -AMOUNT}
BACK: dict[str, int] = {}


@pytest.fixture
def live(shop: NewMerchant) -> Iterator[LiveShop]:
    with live_shop(shop) as made:
        yield made


def sent(live: LiveShop) -> Payout:
    """Return a payout that Xendit has accepted."""
    live.payout()
    assert send.send_due() == 1
    payout = Payout.objects.get()
    assert payout.status == "in_transit"
    return payout


def types() -> list[str]:
    return list(Event.objects.filter(type__startswith="payout").order_by("sequence").values_list("type", flat=True))


def test_an_approved_payout_is_sent_with_its_account(live: LiveShop) -> None:
    payout = live.payout()
    assert send.send_due() == 1
    [made] = live.made()
    assert made.asked == {
        "reference_id": payout.id.hex,
        "channel_code": "PH_BDO",
        "channel_properties": {"account_number": NUMBER, "account_holder_name": "Sari Store"},
        "amount": 96.35,
        "currency": "PHP",
        "description": f"Payout {payout}",
    }
    assert Payout.objects.get().provider_ref == made.id
    assert (types(), standing()) == (["payout.created", "payout.updated"], UNDER_WAY)


def test_a_payout_that_nobody_approved_is_not_sent(live: LiveShop) -> None:
    live.payout(approved=False)
    assert (send.send_due(), live.made()) == (0, [])


def test_a_payout_that_was_sent_is_not_sent_again(live: LiveShop) -> None:
    sent(live)
    again()
    again()
    assert len(live.made()) == 1


def test_a_paid_payout_is_found_by_a_lookup(live: LiveShop) -> None:
    sent(live)
    live.end("SUCCEEDED")
    assert again().status == "paid"
    assert (types()[-1], standing()) == ("payout.paid", LEFT)


def test_a_failed_payout_gives_the_money_back(live: LiveShop) -> None:
    sent(live)
    live.end("FAILED", "INVALID_DESTINATION")
    payout = again()
    assert (payout.status, payout.failure_code, standing()) == ("failed", "account_refused", BACK)


@pytest.mark.parametrize("how", [Spoilt.LOST, Spoilt.CUT, Spoilt.GARBLED, Spoilt.FAILING, Spoilt.OTHER_AMOUNT])
def test_a_payout_without_a_clear_answer_is_found_and_not_sent_again(live: LiveShop, how: Spoilt) -> None:
    live.payout()
    live.bench.spoil_next(how)
    send.send_due()
    payout = Payout.objects.get()
    assert (payout.status, payout.asked_at is not None) == ("pending", True)
    assert "not known" in payout.why
    assert again().status == "in_transit"
    assert len(live.made()) == 1


def test_a_payout_of_an_unknown_outcome_is_not_cancelled(live: LiveShop) -> None:
    live.payout()
    live.bench.spoil_next(Spoilt.LOST)
    send.send_due()
    with pytest.raises(StaleRow):
        states.cancel(Payout.objects.select_related("account").get())
    with pytest.raises(IntegrityError, match="not_cancelled"), transaction.atomic():
        Payout.objects.update(status="cancelled", ended_at=clock.now())


def test_a_payout_that_was_read_before_it_was_sent_is_not_cancelled(live: LiveShop) -> None:
    payout = live.payout()
    live.bench.spoil_next(Spoilt.LOST)
    send.send_due()
    with pytest.raises(StaleRow):
        states.cancel(payout)


def test_a_payout_is_sent_again_only_after_the_provider_did_not_know_it_several_times(live: LiveShop) -> None:
    payout = live.payout()
    live.bench.spoil_next(Spoilt.DROPPED)
    send.send_due()
    for _ in range(ABSENT_TRIES):
        assert live.made() == []
        again()
    assert again().status == "in_transit"
    assert [made.reference for made in live.made()] == [payout.id.hex]


def test_a_lookup_that_fails_lets_nothing_be_sent_again(live: LiveShop) -> None:
    live.payout()
    live.bench.spoil_next(Spoilt.DROPPED)
    send.send_due()
    for _ in range(2 * ABSENT_TRIES):
        live.bench.spoil_next(Spoilt.DOWN)
        again()
    assert (live.made(), Payout.objects.get().asked_at is not None) == ([], True)


def test_a_provider_that_has_no_time_is_asked_again_later_and_later(live: LiveShop) -> None:
    live.payout()
    for seconds in (5, 30, 120):
        let_time_pass(Payout, "due_at")
        live.bench.spoil_next(Spoilt.BUSY)
        now = clock.now()
        with clock.at(now):
            send.send_due()
        payout = Payout.objects.get()
        assert payout.asked_at is None
        assert 0 <= (payout.due_at - now).total_seconds() - seconds < 1
    assert again().status == "in_transit"


@pytest.mark.parametrize(("status", "code"), [(403, "REQUEST_FORBIDDEN_ERROR"), (400, "API_VALIDATION_ERROR")])
def test_a_refusal_that_is_about_us_leaves_the_payout_pending_with_the_reason(
    live: LiveShop, status: int, code: str
) -> None:
    live.payout()
    live.bench.fake.payouts.refusal = (status, code)
    send.send_due()
    payout = Payout.objects.get()
    assert (payout.status, payout.asked_at) == ("pending", None)
    assert code in payout.why
    assert again().status == "in_transit"


def test_a_refused_payout_can_be_cancelled(live: LiveShop) -> None:
    live.payout()
    live.bench.fake.payouts.refusal = (403, "REQUEST_FORBIDDEN_ERROR")
    send.send_due()
    states.cancel(Payout.objects.select_related("account").get())
    assert (again().status, live.made(), standing()) == ("cancelled", [], BACK)


@pytest.mark.parametrize(
    ("code", "failure"),
    [("RECIPIENT_ACCOUNT_NUMBER_ERROR", "account_refused"), ("MAXIMUM_TRANSFER_LIMIT_ERROR", "amount_refused")],
)
def test_a_refusal_that_is_about_the_payout_gives_the_money_back(live: LiveShop, code: str, failure: str) -> None:
    live.payout()
    live.bench.fake.payouts.refusal = (400, code)
    send.send_due()
    payout = Payout.objects.get()
    assert (payout.status, payout.failure_code, standing()) == ("failed", failure, BACK)


def test_a_key_that_the_provider_knows_already_is_no_refusal(live: LiveShop) -> None:
    live.payout()
    live.bench.fake.payouts.refusal = (409, "DUPLICATE_TRANSACTION_ERROR")
    send.send_due()
    assert Payout.objects.get().asked_at is not None


def test_a_bank_that_the_provider_does_not_reach_fails_and_asks_nothing(live: LiveShop) -> None:
    live.payout(bic="DEUTDEFF")
    send.send_due()
    payout = Payout.objects.get()
    assert (payout.status, payout.failure_code, standing()) == ("failed", "bank_not_supported", BACK)
    assert live.bench.fake.requests == []


def test_an_account_whose_bank_is_not_reached_is_an_obstacle(live: LiveShop) -> None:
    merchant = live.shop.merchant
    assert provider.obstacle(give_account(merchant, livemode=True), live.account) == ""
    assert "no channel" in provider.obstacle(give_account(merchant, livemode=True, bic="DEUTDEFF"), live.account)
    assert "USD" in provider.obstacle(give_account(merchant, currency="USD", livemode=True), live.account)
    adyen = ProviderAccount(merchant=merchant, livemode=True, provider="adyen")
    assert "makes no payouts" in provider.obstacle(give_account(merchant, livemode=True), adyen)


def test_a_disabled_account_sends_nothing_and_is_still_asked(live: LiveShop) -> None:
    payout = sent(live)
    ProviderAccount.objects.update(enabled=False)
    live.payout()
    live.end("SUCCEEDED")
    Payout.objects.filter(due_at__isnull=False).update(due_at=clock.now())
    send.send_due()
    assert len(live.made()) == 1
    assert Payout.objects.get(id=payout.id).status == "paid"
    assert "no payouts now" in Payout.objects.exclude(id=payout.id).get().why


def test_a_busy_account_keeps_nobody_elses_payout_waiting(live: LiveShop) -> None:
    credentials = {"secret_key": live.bench.secret_key, "callback_token": live.bench.callback_token}
    other = provider_accounts.open_account(live.shop.merchant, True, "xendit", "Other", credentials, {})
    stuck, free = live.payout(), live.payout()
    Payout.objects.filter(id=stuck.id).update(provider_account=other)
    places = bulkheads.bulkheads().accounts
    for _ in range(places.most):
        assert places.take(other.id)
    try:
        send.send_due()
    finally:
        for _ in range(places.most):
            places.give_back(other.id)
    stuck.refresh_from_db()
    free.refresh_from_db()
    assert (stuck.status, stuck.asked_at, stuck.tries, free.status) == ("pending", None, 0, "in_transit")


def test_the_number_of_the_account_is_in_no_log_and_in_no_reason(
    live: LiveShop, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    live.payout()
    for how in (Spoilt.BUSY, Spoilt.GARBLED):
        live.bench.spoil_next(how)
        again()
    for _ in range(2):
        again()
    monkeypatch.setattr(http, "send", lambda *_: 1 / 0)
    again()
    written = caplog.text + "".join(str(vars(record)) for record in caplog.records) + Payout.objects.get().why
    assert "provider asked" in written
    assert NUMBER not in written


def test_a_payout_that_the_provider_refused_is_shown_to_operators_at_once(live: LiveShop) -> None:
    live.payout()
    live.bench.fake.payouts.refusal = (403, "REQUEST_FORBIDDEN_ERROR")
    send.send_due()
    assert [payout.status for payout in rows.stuck_payouts(None)] == ["pending"]
    again()
    assert not rows.stuck_payouts(None)


def test_a_payout_of_an_unknown_outcome_is_shown_to_operators_after_an_hour(live: LiveShop) -> None:
    live.payout()
    live.bench.spoil_next(Spoilt.LOST)
    send.send_due()
    assert not rows.stuck_payouts(None)
    Payout.objects.update(asked_at=clock.now() - rows.PAYOUT_USUAL)
    [payout] = rows.stuck_payouts(None)
    assert "not known" in payout.why


def test_a_schedule_by_a_provider_that_does_not_reach_the_bank_is_refused(live: LiveShop) -> None:
    give_account(live.shop.merchant, livemode=True, bic="DEUTDEFF")
    with pytest.raises(BadSchedule, match="no channel"):
        set_schedule(live.shop.merchant, True, "PHP", Terms(provider_account=str(live.account.id)))


def test_a_bank_account_that_the_schedules_provider_does_not_reach_is_refused(live: LiveShop) -> None:
    set_schedule(live.shop.merchant, True, "PHP", Terms(provider_account=str(live.account.id)))
    with pytest.raises(BadPayoutAccount, match="no channel"):
        add_account(live.shop.merchant, True, Details("PHP", "Sari Store", "CITIPHMX"), "001234567890")
