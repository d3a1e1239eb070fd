"""Cards that sessions only keep, checked by a real connector before its provider's fake, which asks their payers."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from payments.domain.checkout import card_checks
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Card, Checkout
from tests.checkout.cast import SAVE_CARD, customer, opened, row_of
from tests.pages.checkout_page import page_of, send
from tests.provider_events.live.world import World, adyen_world
from tests.provider_events.psp import standing
from tests.providers.adyen.fake import CHALLENGED
from tests.providers.bench import Spoilt

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(shop: NewMerchant) -> Iterator[World]:
    with adyen_world(shop) as world:
        yield world


def challenged(client: Client, world: World) -> tuple[dict[str, Any], Any]:
    """Return a session whose payer is at the issuer's page, and the check at the provider."""
    session = opened(world.live, **SAVE_CARD, customer=customer(world.live))
    assert send(client, session, CHALLENGED)["Location"].startswith("https://checkoutshopper-test.adyen.com/")
    *_, booked = world.bench.fake.books.payments.values()
    return session, booked


def come_back(client: Client, session: dict[str, Any], booked: Any) -> str:
    return str(
        client.get(
            page_of(session) + "/done", {"redirectResult": booked.psp_reference, "attempt": row_of(session).attempts}
        )["Location"]
    )


@pytest.mark.parametrize("agrees", [True, False])
def test_the_payers_return_ends_the_check_and_its_webhook_adds_nothing(
    client: Client, world: World, agrees: bool
) -> None:
    session, booked = challenged(client, world)
    assert (booked.value, booked.body["authenticationData"]["attemptAuthentication"]) == (0, "always")
    booked.agreed = agrees
    assert come_back(client, session, booked) == session["success_url" if agrees else "payment_url"]
    world.happen()
    row = row_of(session)
    assert (row.state, row.check_code) == (("paid", "") if agrees else ("unpaid", "authentication_failed"))
    assert Card.objects.filter(source__vaulted=True).count() == agrees
    assert standing() == [("applied", "")]


@pytest.mark.parametrize("agrees", [True, False])
def test_a_webhook_brings_the_outcome_of_a_return_whose_answer_was_lost(
    client: Client, world: World, agrees: bool
) -> None:
    session, booked = challenged(client, world)
    booked.agreed = agrees
    world.spoil_next(Spoilt.LOST)
    assert come_back(client, session, booked) == session["payment_url"]
    assert row_of(session).state == "paying"
    world.happen()
    assert row_of(session).state == ("paid" if agrees else "unpaid")


def test_what_the_payer_of_another_session_brought_keeps_no_card(client: Client, world: World) -> None:
    (session, _), (other, others) = challenged(client, world), challenged(client, world)
    others.agreed = True
    assert come_back(client, session, others) == session["payment_url"]
    assert (row_of(session).state, Card.objects.filter(source__vaulted=True).count()) == ("paying", 0)
    assert come_back(client, other, others) == other["success_url"]


def test_a_return_without_anything_ends_nothing(client: Client, world: World) -> None:
    session, booked = challenged(client, world)
    assert client.get(page_of(session) + "/done?attempt=1")["Location"] == session["payment_url"]
    Checkout.objects.update(check_due_at=row_of(session).created_at)
    card_checks.resolve_due()
    assert row_of(session).check_url
    booked.agreed = True
    assert come_back(client, session, booked) == session["success_url"]


def test_a_payer_whose_time_is_over_at_the_provider_may_choose_another_card(client: Client, world: World) -> None:
    session, _ = challenged(client, world)
    world.run_out()
    world.happen()
    assert (row_of(session).state, row_of(session).check_code) == ("unpaid", "action_expired")
