"""Every type of event can come about, and a list of one type has no other."""

from collections.abc import Callable

import pytest

from payments import clock
from payments.domain.charging.expiry import announce_expiring_cards
from payments.domain.merchants.api_keys import create_key
from payments.domain.payouts import accounts, make, states
from payments.domain.risk.decline_limits import set_budget
from payments.models import ApiKey, Card, Merchant
from tests.checkout.cast import billed, opened, pay
from tests.checkout.shelf import linked
from tests.client import DECLINED, Api, made
from tests.contract.calls import customer
from tests.contract.shapes import EVENT_TYPES
from tests.disputes.stories import WON, a_week_passes, disputed
from tests.payouts.stories import give_account, give_schedule, paid_out, settled

pytestmark = pytest.mark.long


def charges(api: Api) -> None:
    """Have charges that are refunded, captured and declined."""
    made(api.post(f"/charges/{api.charge()['id']}/refund"))
    made(api.post(f"/charges/{api.held()['id']}/capture"))
    api.charge(DECLINED)


def disputes(api: Api) -> None:
    """Have a dispute that is won."""
    disputed(api, WON)
    a_week_passes()
    a_week_passes()


def payouts(api: Api) -> None:
    """Have a payout that is paid and returned, and one that is cancelled."""
    merchant = Merchant.objects.get()
    give_account(merchant, "1230003")
    schedule = give_schedule(merchant)
    settled(api)
    paid_out(schedule)
    states.cancel(make.make_now(schedule.id))


def payout_accounts(api: Api) -> None:
    """Have a bank account of live mode that is withdrawn."""
    details = accounts.Details("PHP", "Sari", "BNORPHMM")
    accounts.withdraw(accounts.add_account(Merchant.objects.get(), True, details, "0001234567"))


def customers(api: Api) -> None:
    """Have a kept card that expires soon and is given up, and a customer who is deleted."""
    holder, source = customer(api)["id"], api.source()
    made(api.post(f"/customers/{holder}/sources", {"source": source}))
    Card.objects.filter(expiring_at__isnull=False).update(expiring_at=clock.now())
    announce_expiring_cards()
    made(api.delete(f"/customers/{holder}/sources/{source}"))
    made(api.delete(f"/customers/{holder}"))


def sessions(api: Api) -> None:
    """Have a session that is paid, and one that expires."""
    pay(opened(api))
    made(api.post(f"/checkout_sessions/{opened(api)['id']}/expire"))


def payment_requests(api: Api) -> None:
    """Have a request that is sent again, declined and paid."""
    request = billed(api)
    made(api.post(f"/payment_requests/{request['id']}/resend"))
    pay(request, DECLINED)
    pay(request)


def links(api: Api) -> None:
    """Have a link that is deactivated."""
    made(api.post(f"/payment_links/{linked(api)['id']}/deactivate"))


# By the first word of a type, what makes its events come about.
STORIES: dict[str, Callable[[Api], None]] = {
    "charge": charges,
    "refund": charges,
    "dispute": disputes,
    "payout": payouts,
    "payout_account": payout_accounts,
    "organization": lambda api: set_budget(Merchant.objects.get(), 100),
    "customer": customers,
    "source": customers,
    "checkout_session": sessions,
    "payment_request": payment_requests,
    "payment_link": links,
}


@pytest.mark.parametrize("event_type", EVENT_TYPES)
def test_events_are_found_by_their_type(api: Api, event_type: str) -> None:
    kind = event_type.partition(".")[0]
    (disputes if event_type == "charge.disputed" else STORIES[kind])(api)
    live = Api(create_key(Merchant.objects.get(), True, ApiKey.Kind.SECRET)[1])
    reader = live if kind == "payout_account" else api
    found = made(reader.get("/events/", type=event_type, limit=100))["data"]
    assert {event["type"] for event in found} == {event_type}
