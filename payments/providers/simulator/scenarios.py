"""What each test card does (section 7 of the contract)."""

from dataclasses import dataclass
from enum import StrEnum

from payments.providers.base import CardData


class Lost(StrEnum):
    """What a broken connection swallows."""

    REQUEST = "request"
    ANSWER = "answer"


class Refunds(StrEnum):
    """How the refunds of a payment end."""

    SUCCEED = "succeed"
    FAIL_LATER = "fail_later"
    SUCCEED_LATER = "succeed_later"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A card's behaviour; `decline_code` is empty for one that is approved."""

    name: str
    decline_code: str = ""
    challenges: bool = True
    lost: Lost | None = None
    refunds: Refunds = Refunds.SUCCEED


def _declined(code: str) -> Scenario:
    return Scenario(code, decline_code=code)


APPROVED = Scenario("approved")
NO_CARD = Scenario("no_card", decline_code="processing_error")
SCENARIOS = {
    "4000000000003055": Scenario("unchallenged", challenges=False),
    "4000000000000002": _declined("card_declined"),
    "4000000000009995": _declined("insufficient_funds"),
    "4000000000009987": _declined("lost_card"),
    "4000000000009979": _declined("stolen_card"),
    "4000000000000069": _declined("expired_card"),
    "4000000000000127": _declined("incorrect_cvc"),
    "4000000000000119": _declined("processing_error"),
    "4000000000000341": _declined("card_declined"),
    "4000000000005126": Scenario("refunds_fail", refunds=Refunds.FAIL_LATER),
    "4000000000007726": Scenario("refunds_pend", refunds=Refunds.SUCCEED_LATER),
    "4000000000005100": Scenario("answer_lost", challenges=False, lost=Lost.ANSWER),
    "4000000000005118": Scenario("request_lost", challenges=False, lost=Lost.REQUEST),
}
MESSAGES = {
    "card_declined": "The issuer declined the card.",
    "insufficient_funds": "The account lacks funds.",
    "lost_card": "The card was reported lost.",
    "stolen_card": "The card was reported stolen.",
    "expired_card": "The card has expired.",
    "incorrect_cvc": "The security code is wrong.",
    "processing_error": "The card network made an error.",
    "authentication_failed": "The payer failed authentication.",
    "payer_cancelled": "The payer cancelled.",
    "action_expired": "The payer did not act in time.",
}


def scenario_of(card: CardData | None) -> Scenario:
    """How this card behaves: as its number says, approved for any number that is not a special one."""
    return SCENARIOS.get(card.number, APPROVED) if card else NO_CARD


def cvc_checked(card: CardData | None, scenario: Scenario) -> str:
    """The contract's word for how the check of the card's CVC ends."""
    if card is None or card.cvc is None:
        return "unchecked"
    return "fail" if scenario.decline_code == "incorrect_cvc" else "pass"
