"""Disputes that webhooks of live providers event."""

from dataclasses import replace
from typing import Any

import pytest

from payments.models import Attempt, Charge, Dispute, ProviderAccount, ProviderEvent
from payments.providers.base import Unknown, WebhookEvent
from payments.providers.disputes import Disputed, DisputeNews, FoundDispute, Reason, Stage
from tests.client import Api
from tests.provider_events.psp import APPLIED, WebhookPsp, announce, apply_due, name_of, standing

pytestmark = pytest.mark.django_db
CHARGEBACK = Disputed("D1", Stage.CHARGEBACK, 10_000, "PHP", Reason.FRAUDULENT, "10.4")


def about(dispute: Disputed, kind: str = "authorize") -> WebhookEvent:
    """Return an event of a stage of a dispute, with its own key."""
    return WebhookEvent(name_of(kind), None, f"D1:{dispute.stage}:{dispute.currency}", dispute=dispute)


def test_a_chargeback_is_recorded_and_its_money_taken(live: Api, account: ProviderAccount) -> None:
    charge = live.charge()
    announce(account, about(CHARGEBACK), about(CHARGEBACK), about(replace(CHARGEBACK, stage=Stage.INQUIRY)))
    dispute = Dispute.objects.get()
    assert (dispute.livemode, dispute.reason, dispute.status) == (True, "fraudulent", "needs_response")
    assert (live.read(charge)["disputed"], Charge.objects.get().amount_disputed) == (True, 10_000)
    assert standing() == [APPLIED, APPLIED]


@pytest.mark.parametrize("said", [{"amount": 10_350}, {"amount": 172, "currency": "USD"}], ids=str)
def test_a_chargeback_of_more_or_in_another_currency_is_a_dispute_and_an_item_for_operators(
    live: Api, account: ProviderAccount, said: dict[str, Any]
) -> None:
    live.charge()
    announce(account, about(replace(CHARGEBACK, **said)))
    [(state, why)] = standing()
    assert (state, "posted" in why) == ("needs_attention", True)
    dispute = Dispute.objects.get()
    assert (dispute.status, {name: getattr(dispute, name) for name in said}) == ("needs_response", said)


def test_a_reversal_of_a_part_is_recorded_and_shown_to_operators(live: Api, account: ProviderAccount) -> None:
    live.charge()
    announce(account, about(CHARGEBACK), about(replace(CHARGEBACK, stage=Stage.REVERSED, amount=4_000)))
    assert [state for state, _ in standing()] == ["applied", "needs_attention"]
    assert Charge.objects.get().amount_disputed == 6_000


@pytest.mark.parametrize(
    ("names", "state"),
    [
        ({"payment": "ours"}, "needs_attention"),
        ({"reference": "ours"}, "needs_attention"),
        ({"provider_ref": "theirs"}, "needs_attention"),
        ({"provider_ref": "D1"}, "needs_attention"),
        ({"payment": "order 7", "provider_ref": "P9"}, "not_ours"),
    ],
    ids=str,
)
def test_an_event_that_no_table_names_needs_attention_where_it_is_about_something_of_ours(
    live: Api, account: ProviderAccount, names: dict[str, str], state: str
) -> None:
    live.charge()
    announce(account, about(CHARGEBACK))
    attempt = Attempt.objects.get(kind="authorize")
    known = {"ours": attempt.reference, "theirs": attempt.provider_ref}
    named = {name: known.get(value, value) for name, value in names.items()}
    announce(account, WebhookEvent(**{"reference": "E1", "outcome": Unknown("It says FROZEN."), "key": "E1"} | named))
    assert standing()[1] == (state, "It says FROZEN.")


def test_a_chargeback_of_what_is_no_payment_waits_for_operators(live: Api, account: ProviderAccount) -> None:
    charge = live.charge()
    live.post(f"/charges/{charge['id']}/refund", {"amount": 100})
    announce(account, about(CHARGEBACK, "refund"))
    assert [state for state, _ in standing()] == ["needs_attention"]


def test_a_chargeback_is_applied_again_after_a_void_that_was_under_way(live: Api, account: ProviderAccount) -> None:
    live.charge()
    Charge.objects.update(operation="void")
    announce(account, about(CHARGEBACK))
    assert [state for state, _ in standing()] == ["waiting"]
    Charge.objects.update(operation="")
    apply_due()
    assert (standing(), Dispute.objects.count()) == ([APPLIED], 1)


def test_a_report_of_another_account_moves_nothing(live: Api, account: ProviderAccount) -> None:
    live.charge()
    Attempt.objects.update(account=None, route=None)
    announce(account, about(CHARGEBACK))
    assert ProviderEvent.objects.get().state == "needs_attention"
    assert not Dispute.objects.exists()


def test_a_lookup_of_a_dispute_that_breaks_is_unknown_and_tried_again(
    live: Api, account: ProviderAccount, psp: WebhookPsp
) -> None:
    live.charge()
    psp.find_dispute = lambda _: 1 / 0
    announce(account, WebhookEvent("D1", None, "D1", dispute=DisputeNews("D1")))
    assert standing() == [("waiting", "The provider does not say: ZeroDivisionError")]
    psp.find_dispute = lambda _: FoundDispute(name_of("authorize"), (CHARGEBACK,))
    apply_due()
    assert (standing(), Dispute.objects.count()) == ([APPLIED], 1)
