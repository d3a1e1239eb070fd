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


class Story(StrEnum):
    """What the payer's bank does after the money was taken."""

    AT_ONCE = "at_once"
    INQUIRY = "inquiry"
    LATER = "later"
    WON = "won"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A card's behaviour: `challenges` where authentication is asked; `decline_code` is empty when approved.

    One that `needs_first` is declined without its payer until a payment with the payer was approved.
    """

    challenges: bool = False
    decline_code: str = ""
    lost: Lost | None = None
    refunds: Refunds = Refunds.SUCCEED
    story: Story | None = None
    needs_first: bool = False


# The code of a decline of a payment without the payer, of a card that was never paid with by them.
NO_FIRST_PAYMENT = "no_first_payment"
ORDINARY = Scenario(challenges=True)
NO_CARD = Scenario(decline_code="processing_error")
PLAIN_DECLINE = Scenario(decline_code="card_declined")
SCENARIOS = {
    "4000000000003055": Scenario(),
    "4000000000000002": PLAIN_DECLINE,
    "4000000000009995": Scenario(decline_code="insufficient_funds"),
    "4000000000009987": Scenario(decline_code="lost_card"),
    "4000000000009979": Scenario(decline_code="stolen_card"),
    "4000000000000069": Scenario(decline_code="expired_card"),
    "4000000000000127": Scenario(decline_code="incorrect_cvc"),
    "4000000000000119": Scenario(decline_code="processing_error"),
    "4000000000000341": Scenario(decline_code="card_declined"),
    "4000000000003303": Scenario(needs_first=True),
    "4000000000005126": Scenario(refunds=Refunds.FAIL_LATER),
    "4000000000007726": Scenario(refunds=Refunds.SUCCEED_LATER),
    "4000000000005100": Scenario(lost=Lost.ANSWER),
    "4000000000005118": Scenario(lost=Lost.REQUEST),
    "4000000000000259": Scenario(story=Story.AT_ONCE),
    "4000000000001976": Scenario(story=Story.INQUIRY),
    "4000000000002685": Scenario(story=Story.LATER),
    "4000000000004269": Scenario(story=Story.WON),
    "4000000000004277": Scenario(story=Story.LOST),
}
MESSAGES = {
    "card_declined": "The issuer declined the card.",
    "insufficient_funds": "The account lacks funds.",
    "lost_card": "The card was reported lost.",
    "stolen_card": "The card was reported stolen.",
    "expired_card": "The card has expired.",
    "incorrect_cvc": "The security code is wrong.",
    "processing_error": "The card network made an error.",
    NO_FIRST_PAYMENT: "The card was never paid with by its owner here.",
    "authentication_failed": "The payer failed authentication.",
    "payer_cancelled": "The payer cancelled.",
    "action_expired": "The payer did not act in time.",
}


def scenario_of(card: CardData | None) -> Scenario:
    """How this card behaves: as its number says, like any ordinary one for a number that is not special."""
    return SCENARIOS.get(card.number, ORDINARY) if card else NO_CARD


def cvc_checked(card: CardData | None, scenario: Scenario) -> str:
    """Return the contract's word for the result of the CVC check."""
    if card is None or card.cvc is None:
        return "unchecked"
    return "fail" if scenario.decline_code == "incorrect_cvc" else "pass"
