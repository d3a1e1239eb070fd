"""What Xendit reports of payouts: looked up before anything moves, in any order, repeated and late."""

import json
from collections.abc import Iterator

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import send, states
from payments.domain.routing import provider_accounts
from payments.models import Event, Payout, ProviderEvent
from tests.ledger.books import standing
from tests.payouts.at_xendit import AMOUNT, LiveShop, again, live_shop
from tests.providers.bench import SignedMessage, Spoilt

pytestmark = pytest.mark.django_db

LEFT = {"merchant_payable": AMOUNT, "bank": -AMOUNT}
BACK: dict[str, int] = {}


@pytest.fixture
def live(shop: NewMerchant) -> Iterator[LiveShop]:
    """Yield a shop with a payout that Xendit has accepted."""
    with live_shop(shop) as made:
        made.payout()
        send.send_due()
        yield made


def status() -> tuple[str, str]:
    payout = Payout.objects.get()
    return payout.status, payout.failure_code


def states_of_events() -> set[tuple[str, str]]:
    return set(ProviderEvent.objects.values_list("state", "why"))


def forged(webhook: SignedMessage, **members: object) -> SignedMessage:
    """Return a webhook with the right token that says something else about its payout."""
    headers, body = webhook
    content = json.loads(body)
    return headers, json.dumps(content | {"data": content["data"] | members}).encode()


def test_a_reported_payout_is_paid(live: LiveShop) -> None:
    live.announce(live.end("SUCCEEDED"))
    assert (status(), standing(), states_of_events()) == (("paid", ""), LEFT, {("applied", "")})
    assert Payout.objects.get().due_at is None


def test_a_reported_failure_gives_the_money_back(live: LiveShop) -> None:
    live.announce(live.end("FAILED", "REJECTED_BY_CHANNEL"))
    assert (status(), standing()) == (("failed", "provider_refused"), BACK)


def test_a_payout_that_was_sent_back_gives_the_money_back(live: LiveShop) -> None:
    live.announce(live.end("SUCCEEDED"))
    live.announce(live.end("REVERSED"))
    assert (status(), standing()) == (("failed", "returned"), BACK)


@pytest.mark.long
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0, 1), (1, 0, 1)])
def test_reports_in_any_order_and_number_come_to_the_same(live: LiveShop, order: tuple[int, ...]) -> None:
    webhooks = [*live.end("SUCCEEDED"), *live.end("REVERSED")]
    live.announce([webhooks[number] for number in order])
    assert (status(), standing()) == (("failed", "returned"), BACK)
    types = Event.objects.filter(type__startswith="payout.").order_by("sequence").values_list("type", flat=True)
    assert list(types) == ["payout.created", "payout.updated", "payout.paid", "payout.failed"]


def test_a_report_is_not_believed_without_a_lookup(live: LiveShop) -> None:
    [webhook] = live.end("SUCCEEDED")
    live.bench.fake.payouts.end(live.made()[0].reference, "FAILED", "INVALID_DESTINATION")
    live.announce([webhook])
    assert status() == ("failed", "account_refused")


def test_a_report_of_another_amount_moves_nothing(live: LiveShop) -> None:
    [webhook] = live.end("SUCCEEDED")
    live.announce([forged(webhook, amount=1.00)])
    assert status() == ("in_transit", "")
    [(state, why)] = states_of_events()
    assert (state, why) == ("needs_attention", f"The message says 100, and {AMOUNT} was asked for.")


def test_a_report_to_another_account_moves_nothing(live: LiveShop) -> None:
    credentials = {"secret_key": live.bench.secret_key, "callback_token": live.bench.callback_token}
    webhooks = live.end("SUCCEEDED")
    live.account = provider_accounts.open_account(live.shop.merchant, True, "xendit", "Other", credentials, {})
    live.announce(webhooks)
    assert status() == ("in_transit", "")
    assert {state for state, _ in states_of_events()} == {"needs_attention"}


def test_a_payout_that_somebody_made_by_hand_is_not_ours(live: LiveShop) -> None:
    [webhook] = live.end("SUCCEEDED")
    live.announce([forged(webhook, reference_id="by hand", id="disb-571f3644d2b4edf0745e9703")])
    assert (status(), {state for state, _ in states_of_events()}) == (("in_transit", ""), {"not_ours"})


def test_a_report_that_comes_before_the_answer_is_applied(live: LiveShop) -> None:
    live.payout()
    live.bench.spoil_next(Spoilt.LOST)
    send.send_due()
    payout = Payout.objects.get(status="pending")
    live.bench.fake.payouts.end(payout.id.hex, "SUCCEEDED")
    live.announce(live.bench.payout_webhooks())
    assert Payout.objects.get(id=payout.id).status == "paid"


def test_a_payout_that_is_paid_after_it_had_failed_is_taken_of_the_balance_again(live: LiveShop) -> None:
    live.announce(live.end("FAILED", "TRANSFER_ERROR"))
    assert standing() == BACK
    live.announce(live.end("SUCCEEDED"))
    assert (status(), standing()) == (("paid", ""), LEFT)
    why = "It was paid though it was failed here: the merchant's balance was charged with it again."
    assert ("needs_attention", why) in states_of_events()


def test_a_payout_that_was_paid_late_and_sent_back_gives_the_money_back(live: LiveShop) -> None:
    for word in ("FAILED", "SUCCEEDED", "REVERSED"):
        live.announce(live.end(word))
    assert (status(), standing()) == (("failed", "returned"), BACK)


def test_a_payout_that_was_cancelled_and_is_paid_all_the_same_is_taken_of_the_balance(live: LiveShop) -> None:
    """As after a process that was taken for dead, and sent it all the same."""
    payout = live.payout()
    states.cancel(payout)
    [made] = live.made()
    live.bench.fake.payouts.create(made.asked | {"reference_id": payout.id.hex}, payout.id.hex)
    live.bench.fake.payouts.end(payout.id.hex, "SUCCEEDED")
    live.announce(live.bench.payout_webhooks())
    assert Payout.objects.get(id=payout.id).status == "paid"


def test_a_payout_that_was_cancelled_and_is_under_way_needs_attention(live: LiveShop) -> None:
    payout = live.payout()
    states.cancel(payout)
    [made] = live.made()
    live.bench.fake.payouts.create(made.asked | {"reference_id": payout.id.hex}, payout.id.hex)
    live.announce([_word_of(live, payout)])
    assert ("needs_attention", "The provider is paying it out, and it is cancelled here.") in states_of_events()
    assert Payout.objects.get(id=payout.id).status == "cancelled"


def _word_of(live: LiveShop, payout: Payout) -> SignedMessage:
    """Return a webhook that says of a payout more than a lookup does."""
    made = live.bench.fake.payouts.made[payout.id.hex]
    live.bench.fake.payouts.end(payout.id.hex, "SUCCEEDED")
    made.status = "REQUESTED"
    [webhook] = live.bench.payout_webhooks()
    return webhook


def test_a_lookup_without_an_answer_is_repeated(live: LiveShop) -> None:
    webhooks = live.end("SUCCEEDED")
    live.bench.spoil_next(Spoilt.DOWN)
    live.announce(webhooks)
    assert again().status == "paid"
