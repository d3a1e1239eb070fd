"""Which columns time moves, and whose."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import DateTimeField
from pytest_django import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, Card, Charge, Webhook
from payments.providers.simulator.models import SimulatedPayment
from tests.client import Api
from tests.clock.cast import DAY, HOUR, everything, let_pass, one_of_each, our_models
from tests.factories import ChargeFactory, SourceFactory

# What objects wait for.
DEADLINES = {
    "payments.attempt.due_at",
    "payments.block.expires_at",
    "payments.card.cvc_expires_at",
    "payments.card.number_expires_at",
    "payments.card.expiring_at",
    "payments.card.refused_until",
    "payments.charge.action_expires_at",
    "payments.checkout.expires_at",
    "payments.checkout.check_due_at",
    "payments.paymentlink.ends_at",
    "payments.paymentrequest.remind_at",
    "payments.paymentrequest.collect_at",
    # Its days count from it.
    "payments.paymentrequest.collect_from",
    "payments.paymentrequest.collect_after",
    "payments.charge.hold_expires_at",
    "payments.charge.settle_due_at",
    "payments.webhook.due_at",
    # Three days after it a webhook is given up.
    "payments.webhook.first_try_at",
    # Five days after it an endpoint is disabled.
    "payments.webhookendpoint.failing_since",
    "payments.dispute.evidence_due_at",
    "payments.dispute.response_due_at",
    "payments.approvalrequest.expires_at",
    "payments.payout.due_at",
    "payments.payout.reserve_due_at",
    "payments.payoutpart.payable_at",
    "payments.payoutschedule.next_at",
    "simulator.message.due_at",
    "simulator.simulatedoperation.settles_at",
    "simulator.simulatedpayment.dispute_due_at",
    "simulator.simulatedpayment.expires_at",
    "simulator.simulatedpayout.due_at",
}
# Deadlines of something else than a merchant's test objects.
OF_OTHERS = {
    "payments.apikey.expires_at",
    "payments.payoutaccount.effective_at",
    "payments.webhook.leased_until",
    "payments.webhooksecret.expires_at",
    # What is sent to operators, and to payers at once.
    "payments.notification.due_at",
    "payments.fileschedule.due_at",
    "payments.fileschedule.next_at",
    "payments.payermessage.due_at",
    # What workers do for all merchants.
    "payments.sweep.due_at",
    "payments.reportupload.expires_at",
    # What providers of live mode reported.
    "payments.providerevent.due_at",
    # How long processes know an endpoint as it was before.
    "payments.webhookendpoint.catch_up_at",
}
# What has been, and stays true.
RECORDS = {
    "payments.webhookendpoint.gave_up_at",
    "payments.webhookendpoint.owed_since",
    "payments.notification.ended_at",
    "payments.payoutaccount.withdrawn_at",
    "payments.payoutfile.cancelled_at",
    "payments.payoutfile.downloaded_at",
    "payments.payoutfile.sent_at",
    "payments.sweep.started_at",
    "payments.sweep.finished_at",
    "payments.sweep.oldest_due_at",
    "payments.sweep.due_since",
    "payments.sweep.worked_at",
    "payments.sweep.measured_at",
    "payments.workerprocess.seen_at",
    "payments.workerprocess.started_at",
    "payments.workerprocess.ended_at",
    "payments.approvalrequest.decided_at",
    "customers.customer.deleted_at",
    "customers.customersource.attached_at",
    "customers.customersource.detached_at",
    "payments.apikey.last_used_at",
    "payments.apikey.revoked_at",
    "payments.attempt.outage_at",
    "payments.block.lifted_at",
    "payments.merchantaccess.rights_since",
    "payments.charge.settled_at",
    "payments.card.checked_at",
    "payments.checkout.ended_at",
    "payments.paymentrequest.resent_at",
    "payments.datakey.destroyed_at",
    "payments.datakey.emptied_at",
    "payments.datakey.retired_at",
    "payments.declinealert.acknowledged_at",
    "payments.declinealert.over_at",
    "payments.declinealert.window_ends_at",
    "payments.declinealert.window_starts_at",
    "payments.dispute.responded_at",
    "payments.payout.approved_at",
    "payments.payout.asked_at",
    "payments.payout.ended_at",
    "payments.payout.paid_at",
    "payments.payout.sent_at",
    "payments.ledgerday.summed_at",
    "payments.moneycheck.finished_at",
    "payments.moneycheck.started_at",
    "payments.webhookattempt.started_at",
    "payments.notification.sent_at",
    "payments.payermessage.ended_at",
    "payments.pagevisit.first_at",
    "payments.pagevisit.last_at",
    "payments.reconciliationitem.decided_at",
    "payments.reconciliationitem.rechecked_at",
    "payments.reconciliationitem.vanished_at",
    "payments.reconciliationrun.covers_from",
    "payments.reconciliationrun.covers_to",
    "payments.reportline.booked_at",
    "payments.reportupload.due_at",
    "payments.reportupload.covers_from",
    "payments.reportupload.covers_to",
    "payments.reportline.matched_at",
    "payments.loghead.signed_at",
    "payments.logprogress.looked_at",
    "payments.searchprogress.complete_to",
    "payments.summedday.summed_at",
    "payments.providermessage.received_at",
    "payments.providerevent.closed_at",
    "simulator.message.delivered_at",
}
SECOND = timedelta(seconds=1)
Rows = dict[tuple[str, Any], dict[str, Any]]


@pytest.fixture(autouse=True)
def _slow_refunds(settings: Settings) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 3600


def moved(before: Rows, after: Rows) -> set[str]:
    """Return the columns in which rows differ, each of which must be a second nearer."""
    assert before.keys() == after.keys()
    changed = [
        (f"{table}.{name}", value - after[table, key][name])
        for (table, key), row in before.items()
        for name, value in row.items()
        if value != after[table, key][name]
    ]
    assert {nearer for _, nearer in changed} == {SECOND}
    return {column for column, _ in changed}


def waiting(rows: Rows) -> int:
    """How many deadlines there are in `rows`."""
    names = [f"{table}.{name}" for (table, _), row in rows.items() for name, value in row.items() if value]
    return sum(name in DEADLINES for name in names)


def all_that_others_have(shop: NewMerchant, other_api: Api) -> None:
    """Test objects of another merchant, and live ones of the same, some of which are due."""
    one_of_each(other_api)
    for stage in ("is_held", "is_awaiting_payer", "is_unknown"):
        ChargeFactory(merchant=shop.merchant, livemode=True, **{stage: True})
    ChargeFactory(merchant=shop.merchant, livemode=True, is_captured=True, settle_due_at=clock.now() - HOUR)
    SourceFactory(merchant=shop.merchant, livemode=True)
    Webhook.objects.filter(merchant=other_api.merchant).update(livemode=True, merchant=shop.merchant)
    for model, name in [(Charge, "hold_expires_at"), (Card, "cvc_expires_at"), (SimulatedPayment, "expires_at")]:
        model.objects.filter(**{f"{name}__isnull": False}).update(**{name: clock.now() - HOUR})
    Attempt.objects.filter(due_at__isnull=False).update(due_at=clock.now() - HOUR)


@pytest.fixture
def other_api(other_shop: NewMerchant) -> Api:
    api = Api(other_shop.keys["sk_test"])
    api.merchant = other_shop.merchant
    return api


def test_every_moment_is_known_to_be_a_deadline_or_a_record() -> None:
    moments = {
        f"{model._meta.label_lower}.{field.attname}"
        for model in our_models()
        for field in model._meta.fields
        if isinstance(field, DateTimeField) and field.name not in ("created_at", "updated_at")
    }
    unknown = moments - DEADLINES - OF_OTHERS - RECORDS
    assert not unknown, "Name it above; the test clock moves what a test object waits for."
    assert moments >= DEADLINES | OF_OTHERS


@pytest.mark.long
def test_every_deadline_comes_nearer_and_nothing_else_changes(api: Api) -> None:
    one_of_each(api)
    before = everything()

    let_pass(api, SECOND)

    assert moved(before, everything()) == DEADLINES


@pytest.mark.long
@pytest.mark.parametrize("by", [SECOND, 366 * DAY], ids=["a second", "a year"])
def test_what_is_somebody_elses_or_live_stays_as_it_is_though_it_is_due(
    shop: NewMerchant, api: Api, other_api: Api, by: timedelta
) -> None:
    all_that_others_have(shop, other_api)
    # The first use of a key is noted, for itself.
    api.get("/ping")
    before = everything()
    assert waiting(before) > 10

    let_pass(api, by)

    assert everything() == before


@pytest.mark.long
def test_a_webhook_that_a_worker_has_in_progress_is_left_to_it(api: Api) -> None:
    one_of_each(api)
    Webhook.objects.update(leased_until=clock.now() + HOUR)
    before = list(Webhook.objects.order_by("id").values())

    let_pass(api, SECOND)

    assert list(Webhook.objects.order_by("id").values()) == before


def test_a_question_that_is_being_asked_is_not_taken_for_one_whose_asker_died(api: Api) -> None:
    charge = api.charge("4000000000005118")
    asking = Attempt.objects.filter(state=Attempt.State.UNKNOWN)
    asking.update(state=Attempt.State.OPEN, due_at=clock.now() + timedelta(seconds=15))

    let_pass(api, DAY)

    assert Attempt.objects.get().state == Attempt.State.OPEN
    assert api.read(charge)["status"] == "pending"
