"""What each kind of buyer does, as acts of a `Visit` and days that pass between them.

Kinds and manners are dealt like cards, so that any few dozen buyers together have done all of it. Everything follows
from the seed and the number of the buyer, nothing from the time.
"""

from collections.abc import Iterable, Iterator
from operator import methodcaller
from random import Random

from kaha_cli.rehearse.relay import MANNERS
from kaha_cli.rehearse.visit import DECLINED, MEDDLED_AMOUNT, Shop, Visit

# Longer than a session lasts, and longer than a hold.
DAY, HOLD_DAYS = 1, 8
Act = methodcaller | int

BUY, BUY_AGAIN, BUY_IN_TWO_TABS = (methodcaller("buy", **how) for how in ({}, {"again": True}, {"times": 2}))
BUY_MEDDLING = methodcaller("buy", amount=MEDDLED_AMOUNT)
OPEN, PAY, PAY_TWICE, PAY_IN_OTHER_TAB = (
    *(methodcaller("open"), methodcaller("pay")),
    *(methodcaller("pay", times=2), methodcaller("pay", tab=1)),
)
DECLINE, CHALLENGE, DISPUTE, LOSE_ANSWER, LOSE_REQUEST = (
    methodcaller("pay", card)
    for card in (DECLINED, "4242424242424242", "4000000000000259", "4000000000005100", "4000000000005118")
)
WALLET, QR, BY_PIN = (methodcaller("pay", way=way) for way in ("gcash", "qrph", "bpi"))
BANK, REFUSE, MISTYPE, CLOSE = (
    methodcaller("decide", **how) for how in ({}, {"decision": "cancel"}, {"pin": "000000"}, {"returns": False})
)
RETURN, RETURN_TWICE, RETURN_WITH_OTHER = (methodcaller("come_back", **how) for how in ({}, {"times": 2}, {"of": 0}))
RETURN_AT_ONCE, BACK = methodcaller("come_back_at_once"), methodcaller("go_back")
REFUND, CREATED = methodcaller("refund"), methodcaller("bring")
COMPLETED, FAILURE, DISPUTED = (methodcaller("bring", end) for end in (".completed", "charge.failed", ".disputed"))

# By their words in a story.
KINDS: dict[str, tuple[Act, ...]] = {
    "who pays and returns": (BUY, PAY, RETURN, COMPLETED),
    "who closes the browser after paying": (BUY, PAY, COMPLETED),
    "who returns after the webhook": (BUY, PAY, COMPLETED, RETURN),
    "who returns as the webhook comes": (BUY, PAY, RETURN_AT_ONCE, COMPLETED),
    "who reloads the return": (BUY, PAY, RETURN_TWICE, COMPLETED, DAY, RETURN),
    "who is declined and tries again": (BUY, DECLINE, FAILURE, PAY, RETURN, COMPLETED),
    "who is declined and leaves": (BUY, DECLINE, BACK, FAILURE),
    "who goes back and leaves": (BUY, BACK, CREATED),
    "who goes back and buys again": (BUY, BACK, BUY_AGAIN, PAY, RETURN, COMPLETED),
    "who pays in two tabs": (BUY_IN_TWO_TABS, PAY, PAY_IN_OTHER_TAB, RETURN, COMPLETED),
    "who clicks twice": (BUY, PAY_TWICE, RETURN_TWICE, COMPLETED),
    "who pays by wallet": (BUY, WALLET, BANK, RETURN, COMPLETED),
    "who pays by QR code": (BUY, QR, BANK, RETURN, COMPLETED),
    "who closes the browser at the bank": (BUY, QR, CLOSE, COMPLETED),
    "who mistypes the PIN": (BUY, BY_PIN, MISTYPE, BANK, RETURN, COMPLETED),
    "who refuses at the bank and pays otherwise": (BUY, CHALLENGE, REFUSE, FAILURE, WALLET, BANK, RETURN, COMPLETED),
    "who opens the return without paying": (BUY, RETURN, CREATED),
    "who returns with the session of another order": (BUY, PAY, RETURN, COMPLETED, BUY, RETURN_WITH_OTHER, CREATED),
    "who meddles with the amount": (BUY_MEDDLING, PAY, RETURN, COMPLETED),
    "whose bank's answer is lost": (BUY, LOSE_ANSWER, BACK, DAY, COMPLETED),
    "whose payment is lost on its way": (BUY, LOSE_REQUEST, BACK, DAY, FAILURE),
    "who approves too late": (BUY, CHALLENGE, DAY, BANK, FAILURE),
    "who pays at the moment of expiry": (BUY, OPEN, DAY, PAY, CREATED),
    "whose order is refunded in part": (BUY, PAY, RETURN, COMPLETED, DAY, REFUND),
    "who disputes": (BUY, DISPUTE, RETURN, COMPLETED, DAY, DISPUTED),
}


def visit_of(shop: Shop, number: int) -> Visit:
    """Return the visit of the buyer with this number."""
    return Visit(shop, number, dealt(shop.seed, number, KINDS), dealt(shop.seed, number, MANNERS))


def days_of(visit: Visit) -> Iterator[int]:
    """Do what this buyer does, then bring what was held back; yield how many days pass in between."""
    for act in KINDS[visit.about]:
        if isinstance(act, int):
            yield act
        else:
            act(visit)
    yield HOLD_DAYS if visit.is_held() else DAY
    visit.bring(is_last=True)


def dealt(seed: int, number: int, cards: Iterable[str]) -> str:
    """Return which card the buyer has: each comes once in as many buyers as there are cards, in another order."""
    hand = list(cards)
    deal, place = divmod(number - 1, len(hand))
    # A text seeds by its bytes, which is the same on every machine.
    return Random(f"{seed}/{len(hand)}/{deal}").sample(hand, len(hand))[place]  # nosec B311 # no secret
