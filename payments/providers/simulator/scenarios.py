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
    """A card's behaviour: in `words` for the reference; `challenges` where authentication is asked; `decline_code` is
    empty when approved.

    One that `needs_first` is declined without its payer until a payment with the payer was approved.
    """

    words: str
    challenges: bool = False
    decline_code: str = ""
    lost: Lost | None = None
    refunds: Refunds = Refunds.SUCCEED
    story: Story | None = None
    needs_first: bool = False


# The code of a decline of a payment without the payer, of a card that was never paid with by them.
NO_FIRST_PAYMENT = "no_first_payment"
ORDINARY = Scenario("approved, after the 3-D Secure page unless `require_auth` is `false`", challenges=True)
OTHER_BRANDS = Scenario("the same, of other brands", challenges=True)
NO_CARD = Scenario("no card", decline_code="processing_error")
PLAIN_DECLINE = Scenario("declined: `card_declined`", decline_code="card_declined")
DIRECT, ANSWER_LOST = "4000000000003055", "4000000000005100"
REFUNDS_RETURN, REFUNDS_WAIT = "4000000000005126", "4000000000007726"
DISPUTED, DISPUTE_WON, DISPUTE_LOST = "4000000000000259", "4000000000004269", "4000000000004277"
# The test cards, in the order in which the reference lists them.
SCENARIOS = {
    "4242424242424242": ORDINARY,
    "4012001037141112": OTHER_BRANDS,
    "5555555555554444": OTHER_BRANDS,
    "3566002020360505": OTHER_BRANDS,
    DIRECT: Scenario("approved at once"),
    "4000000000000002": PLAIN_DECLINE,
    "4000000000009995": Scenario("declined: `insufficient_funds`", decline_code="insufficient_funds"),
    "4000000000009987": Scenario("declined: `lost_card`", decline_code="lost_card"),
    "4000000000009979": Scenario("declined: `stolen_card`", decline_code="stolen_card"),
    "4000000000000069": Scenario("declined: `expired_card`", decline_code="expired_card"),
    "4000000000000127": Scenario("declined: `incorrect_cvc`", decline_code="incorrect_cvc"),
    "4000000000000119": Scenario("declined: `processing_error`", decline_code="processing_error"),
    "4000000000000341": Scenario(
        "can be kept for a customer, but its charges are declined", decline_code="card_declined"
    ),
    "4000000000003303": Scenario(
        "approved at once; kept, declined without its payer (`initiator`) until they have paid with it",
        needs_first=True,
    ),
    REFUNDS_RETURN: Scenario("approved; its refunds fail afterwards", refunds=Refunds.FAIL_LATER),
    REFUNDS_WAIT: Scenario("approved; its refunds stay pending, then succeed", refunds=Refunds.SUCCEED_LATER),
    DISPUTED: Scenario("approved; disputed at once: the payer's bank takes the money", story=Story.AT_ONCE),
    "4000000000002685": Scenario("approved; disputed after three days", story=Story.LATER),
    "4000000000001976": Scenario("approved; its bank asks about it and takes nothing", story=Story.INQUIRY),
    DISPUTE_WON: Scenario(
        "approved; its bank asks about it, takes the money after a day, and returns it a week later", story=Story.WON
    ),
    DISPUTE_LOST: Scenario("approved; disputed at once, and lost after a week", story=Story.LOST),
    ANSWER_LOST: Scenario("pending at first, because the answer is lost; then found approved", lost=Lost.ANSWER),
    "4000000000005118": Scenario("pending at first, because the request is lost; then failed", lost=Lost.REQUEST),
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


def numbers_of(scenario: Scenario) -> list[str]:
    """Return the numbers of the test cards that behave so."""
    return [number for number, known in SCENARIOS.items() if known == scenario]


def declined_with(code: str) -> str:
    """Return the number of the first test card that is declined with this code."""
    return next(number for number, scenario in SCENARIOS.items() if scenario.decline_code == code)


def scenario_of(card: CardData | None) -> Scenario:
    """How this card behaves: as its number says, like any ordinary one for a number that is not special."""
    return SCENARIOS.get(card.number, ORDINARY) if card else NO_CARD


def cvc_checked(card: CardData | None, scenario: Scenario) -> str:
    """Return the contract's word for the result of the CVC check."""
    if card is None or card.cvc is None:
        return "unchecked"
    return "fail" if scenario.decline_code == "incorrect_cvc" else "pass"
