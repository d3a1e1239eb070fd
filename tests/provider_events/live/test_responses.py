"""Evidence from the API to Adyen's fake, and Adyen's own report that it has it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from payments import clock
from payments.domain.disputes import respond
from payments.domain.merchants.merchants import NewMerchant
from tests.client import made
from tests.provider_events.live.world import WORLDS, World, asked_by
from tests.providers.adyen.bench import AdyenBench, SpoilsDisputes
from tests.providers.bench import Spoilt

pytestmark = pytest.mark.django_db
# The third request of a response of evidence.
DEFENSE = 2


@pytest.fixture
def world(shop: NewMerchant) -> Iterator[World]:
    with WORLDS["adyen"](shop) as world:
        yield world


def at_adyen(world: World) -> AdyenBench:
    assert isinstance(world.bench, AdyenBench)
    return world.bench


def submitted(world: World) -> str:
    """Return the path of a dispute at Adyen whose evidence was submitted."""
    world.live.charge()
    at_adyen(world).begin_dispute(world.payment)
    world.happen()
    path = f"/disputes/{made(world.live.get('/disputes/'))['data'][0]['id']}"
    for type_ in ("receipt", "shipping_documentation"):
        made(world.live.post(f"{path}/evidence", {"type": type_, "text": "Signed for by Maria"}))
    made(world.live.post(f"{path}/submit"))
    return path


def response_of(world: World, path: str) -> tuple[str, str, str]:
    """Return the state of a dispute, of the response to it, and what is said of that."""
    dispute = made(world.live.get(path))
    return dispute["status"], dispute["response"]["status"], dispute["response"].get("message", "")


@pytest.mark.long
def test_submitted_evidence_is_sent_to_adyen(world: World) -> None:
    path = submitted(world)
    respond.send_due()
    assert response_of(world, path) == ("under_review", "sent", "")
    assert at_adyen(world).responses(world.payment) == ["evidence"]


@pytest.mark.long
def test_a_defense_whose_answer_was_lost_is_not_called_refused_and_adyens_message_proves_it(world: World) -> None:
    spoils = SpoilsDisputes(DEFENSE, Spoilt.LOST)
    spoils.fake = at_adyen(world).fake
    with asked_by(spoils, "adyen"):
        path = submitted(world)
        respond.send_due()
        assert response_of(world, path) == ("needs_response", "pending", "")
        with clock.at(clock.now() + timedelta(minutes=5)):
            respond.send_due()
    status, state, message = response_of(world, path)
    assert (status, state) == ("needs_response", "unknown")
    assert message.startswith("Dispute is not defendable.")
    assert at_adyen(world).responses(world.payment) == ["evidence"]
    world.happen()
    assert response_of(world, path) == ("under_review", "sent", "")


def test_a_defense_that_adyen_refuses_is_refused_in_its_words(world: World) -> None:
    path = submitted(world)
    for book in at_adyen(world).fake.books.disputes.values():
        book.is_expired = True
    respond.send_due()
    assert response_of(world, path) == ("needs_response", "refused", "Dispute expired.")
