"""What each test card and each source type does, and the one-time PIN of a debit: section 7 of the contract."""

import re

import pytest
from pytest_django.fixtures import Settings

from payments import sourcetypes
from payments.providers.base import ActionRequired, Approved, Declined, NotFound, Payment, Unknown
from payments.providers.simulator.models import Message, SimulatedPayment
from payments.providers.simulator.scenarios import SCENARIOS
from tests.simulator.factories import by_type, payment, simulator

pytestmark = pytest.mark.django_db

ORDINARY = ("4242424242424242", "4012001037141112", "5555555555554444", "3566002020360505")
SLOW_REFUNDS = ("4000000000005126", "4000000000007726")
DECLINES = {number: each.decline_code for number, each in SCENARIOS.items() if each.decline_code}
UNHEARD_OF = "4111111111111111"


@pytest.mark.parametrize("number", [*ORDINARY, *SLOW_REFUNDS, "4000000000003055", UNHEARD_OF])
@pytest.mark.parametrize("capture", [True, False])
def test_an_approved_card_is_taken_or_held_as_asked(number: str, capture: bool) -> None:
    outcome = simulator.create_payment(payment(number, capture=capture))
    assert isinstance(outcome, Approved)
    assert (outcome.captured, outcome.cvc_checked) == (capture, "pass")


@pytest.mark.parametrize("number", [*ORDINARY, UNHEARD_OF])
def test_an_ordinary_card_is_challenged_when_authentication_is_asked(number: str) -> None:
    outcome = simulator.create_payment(payment(number, authenticate=True))
    assert isinstance(outcome, ActionRequired)
    assert outcome.confirmation_id == ""


@pytest.mark.parametrize("number", ["4000000000003055", *SLOW_REFUNDS])
def test_a_special_card_is_never_challenged(number: str) -> None:
    outcome = simulator.create_payment(payment(number, authenticate=True))
    assert isinstance(outcome, Approved)


@pytest.mark.parametrize(("number", "code"), DECLINES.items())
@pytest.mark.parametrize("authenticate", [True, False])
def test_a_declined_card_is_declined_at_once(number: str, code: str, authenticate: bool) -> None:
    outcome = simulator.create_payment(payment(number, authenticate=authenticate))
    assert isinstance(outcome, Declined)
    assert (outcome.code, outcome.provider_code) == (code, code)
    assert outcome.message


@pytest.mark.parametrize("named", ["", "nt_1", "MCC_{}", "nt_00000000000000000000000000000000", "nt_{}"])
def test_a_payment_without_its_payer_names_one_that_the_payer_made_here(named: str) -> None:
    simulator.create_payment(payment(ORDINARY[0]))
    reference = named.format(SimulatedPayment.objects.get().id.hex)
    outcome = simulator.create_payment(
        payment(ORDINARY[0], payer_absent=True, initiator_stated=True, network_reference=reference)
    )
    assert isinstance(outcome, Approved if named == "nt_{}" else Declined)


@pytest.mark.parametrize(
    ("number", "cvc", "checked"),
    [
        ("4242424242424242", "123", "pass"),
        ("4242424242424242", None, "unchecked"),
        ("4000000000000127", "123", "fail"),
        ("4000000000000002", "123", "pass"),
        ("4000000000000002", None, "unchecked"),
    ],
)
def test_the_cvc_is_checked_when_one_is_given(number: str, cvc: str | None, checked: str) -> None:
    outcome = simulator.create_payment(payment(number, cvc=cvc))
    assert isinstance(outcome, Approved | Declined)
    assert outcome.cvc_checked == checked


def test_a_card_payment_without_card_data_is_declined() -> None:
    outcome = simulator.create_payment(payment(card=None))
    assert isinstance(outcome, Declined)


@pytest.mark.parametrize("authenticate", [True, False])
@pytest.mark.parametrize("capture", [True, False])
def test_a_lost_answer_is_unknown_and_found_approved(authenticate: bool, capture: bool) -> None:
    asked = payment("4000000000005100", authenticate=authenticate, capture=capture)
    assert isinstance(simulator.create_payment(asked), Unknown)
    found = simulator.resolve(asked)
    assert isinstance(found, Approved)
    assert found.captured == capture
    assert simulator.create_payment(asked) == found


@pytest.mark.parametrize("authenticate", [True, False])
def test_a_lost_request_is_unknown_and_found_nowhere(authenticate: bool) -> None:
    asked = payment("4000000000005118", authenticate=authenticate)
    assert isinstance(simulator.create_payment(asked), Unknown)
    assert simulator.resolve(asked) == NotFound()
    assert isinstance(simulator.create_payment(asked), Unknown)


@pytest.mark.parametrize("kind", [each for each in sourcetypes.SOURCE_TYPES if each.name != "card"])
def test_every_other_type_asks_its_payer(kind: sourcetypes.SourceType, settings: Settings) -> None:
    outcome = simulator.create_payment(by_type(kind.name))
    assert isinstance(outcome, ActionRequired)
    assert outcome.url.startswith(f"{settings.PUBLIC_URL}/simulator/pay/")
    assert bool(outcome.confirmation_id) == (kind.name in ("bpi", "unionbank"))


@pytest.mark.parametrize("kind", [each for each in sourcetypes.NAMES if each != "card"])
def test_no_type_asks_a_payer_who_is_absent(kind: str) -> None:
    assert isinstance(simulator.create_payment(by_type(kind, payer_absent=True)), Approved)


@pytest.mark.parametrize("name", sourcetypes.NAMES)
def test_every_type_is_taken_and_only_a_card_is_held(name: str) -> None:
    capabilities = simulator.capabilities(name)
    assert capabilities is not None
    assert capabilities.hold == (name == "card")


def test_a_hold_of_another_type_than_card_is_refused() -> None:
    asked = by_type("gcash", capture=False)
    outcome = simulator.create_payment(asked)
    assert isinstance(outcome, Declined)
    assert outcome.code == "processing_error"
    assert simulator.resolve(asked) == NotFound()


NAME_SAFE = r"[A-Za-z0-9\s'#_.\-,]{5,255}"


@pytest.fixture(params=["bpi", "unionbank"])
def debit(request: pytest.FixtureRequest) -> Payment:
    """Return a debit that waits for its PIN."""
    asked = by_type(request.param)
    simulator.create_payment(asked)
    return asked


def enter(debit: Payment, pin: str) -> object:
    return simulator.continue_payment(debit, {"otp": pin})


def test_the_confirmation_is_named_as_the_contract_allows(debit: Payment) -> None:
    outcome = simulator.resolve(debit)
    assert isinstance(outcome, ActionRequired)
    assert re.fullmatch(NAME_SAFE, outcome.confirmation_id)


def test_the_third_wrong_pin_ends_it(debit: Payment) -> None:
    enter(debit, "000000")
    enter(debit, "12345")
    outcome = enter(debit, "１２３４５６")
    assert isinstance(outcome, Declined)
    assert outcome.code == "authentication_failed"
    assert enter(debit, "123456") == outcome


def test_a_pin_that_came_by_the_api_is_not_reported_again(debit: Payment) -> None:
    enter(debit, "123456")
    assert not Message.objects.exists()
