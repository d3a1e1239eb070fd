"""Time that passes for a merchant, as its program makes it pass."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.db.models import Model

from payments import clock
from payments.domain.payouts import make, send
from payments.ids import parse_id
from payments.models import Attempt, Charge, Checkout, Dispute, PaymentRequest, PayoutSchedule, Webhook, WebhookEndpoint
from payments.providers.simulator.models import Message
from tests.checkout.cast import SAVE_CARD, collected, customer, opened, save
from tests.checkout.shelf import linked
from tests.client import ANSWER_LOST, CHALLENGED, REFUNDS_WAIT, STOLEN, Api, made
from tests.contract.calls import ENDPOINT, keep
from tests.disputes.stories import AT_ONCE, LATER, disputed
from tests.ledger.books import settle
from tests.operators.factories import person, proposed
from tests.payouts.stories import days_pass, give_account, give_schedule
from tests.risk.factories import block_email

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
HOUR = timedelta(hours=1)


def let_pass(api: Api, by: timedelta) -> dict[str, Any]:
    """Move the test objects of the API's merchant through time."""
    return made(api.post("/test/clock", {"advance_seconds": int(by.total_seconds())}))


def one_of_each(api: Api) -> None:
    """Test objects of the API's merchant of which each waits for another deadline."""
    hook = {"success": "https://shop.example/", "fail": "https://shop.example/", "notify": "https://shop.example/hook"}
    _paid_out(api)
    api.held()
    api.source()
    charge = Charge.objects.get(id=parse_id("ch", api.charge()["id"]))
    proposed(charge=charge)
    block_email("somebody@shop.example", WEEK, merchant=charge.merchant, put_by=person("ben", "finance"))
    api.charge(ANSWER_LOST)
    api.charge(LATER)
    dispute = made(api.get("/disputes/", charge=disputed(api, AT_ONCE)["id"]))["data"][0]["id"]
    made(api.post(f"/disputes/{dispute}/accept"))
    Dispute.objects.filter(response_state="pending").update(response_due_at=clock.now() + HOUR)
    made(api.post(f"/charges/{api.charge(REFUNDS_WAIT)['id']}/refund"))
    announced = api.charge_source(api.source(CHALLENGED, redirect=hook))
    api.client.post(urlsplit(announced["action"]["url"]).path, {"decision": "pay"})
    Webhook.objects.filter(first_try_at=None).update(first_try_at=clock.now())
    api.charge(CHALLENGED)
    api.charge_source(keep(api, api.source(STOLEN)))
    opened(api)
    save(opened(api, **SAVE_CARD, customer=customer(api)), ANSWER_LOST)
    collected(api)
    PaymentRequest.objects.update(collect_at=clock.now() + HOUR, collect_after=clock.now() + HOUR)
    linked(api, expiry=f"12/31/{clock.now().year + 1}")
    made(api.post("/webhook_endpoints/", ENDPOINT | {"enabled_events": ["payout.paid"]}))
    WebhookEndpoint.objects.update(failing_since=clock.now())
    # However slow the machine is, and at whatever hour, none of it becomes due by itself.
    later = clock.now() + HOUR
    Message.objects.filter(delivered_at=None).update(due_at=later)
    Attempt.objects.exclude(due_at=None).update(due_at=later)
    Checkout.objects.exclude(check_due_at=None).update(check_due_at=later)
    Charge.objects.exclude(settle_due_at=None).update(settle_due_at=later)
    PayoutSchedule.objects.update(next_at=later)


def _paid_out(api: Api) -> None:
    """Make a payout that keeps a reserve, and a settlement that waits for the next one."""
    charge = Charge.objects.get(id=parse_id("ch", api.charge()["id"]))
    settle()
    days_pass(1)
    give_account(charge.merchant)
    make.make_now(give_schedule(charge.merchant, "daily", reserve_percent=10, reserve_days=1).id)
    send.send_due()
    api.charge()
    settle()


def everything() -> dict[tuple[str, Any], dict[str, Any]]:
    """All rows of our tables: their values by table and primary key."""
    return {
        (model._meta.label_lower, row[model._meta.pk.attname]): row for model in our_models() for row in _rows(model)
    }


def our_models() -> list[type[Model]]:
    """Each with a table of its own."""
    rooms = [apps.get_app_config(label) for label in ("payments", "simulator", "customers")]
    models = [model for room in rooms for model in room.get_models()]
    return [model for model in models if not model._meta.proxy]


def _rows(model: type[Model]) -> Iterator[dict[str, Any]]:
    for row in model._base_manager.values():
        yield {name: bytes(value) if isinstance(value, memoryview) else value for name, value in row.items()}
