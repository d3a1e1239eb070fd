"""Our source types as Xendit's channels in the Philippines, with what each can do (docs.xendit.co, a page for each)."""

from dataclasses import dataclass

from payments import sourcetypes
from payments.providers.base import Capabilities

DOMAINS = ("api.xendit.co",)
CURRENCY = "PHP"
# Where Xendit names no largest amount: the largest that kaha takes at all.
LARGEST = 99_999_999_999


@dataclass(frozen=True, slots=True)
class Channel:
    """How Xendit calls a way to pay, and what it can do with it."""

    code: str
    capabilities: Capabilities


def _channel(code: str, smallest: int, largest: int = LARGEST, *, hold: bool = False, refund: bool = True) -> Channel:
    limits = {CURRENCY: (smallest, largest)}
    can = Capabilities(hold=hold, refund=refund, partial_refund=refund, void_captured=False, amounts=limits)
    return Channel(code, can)


CHANNELS = {
    sourcetypes.CARD: _channel("CARDS", 20_00, 700_000_00, hold=True),
    "gcash": _channel("GCASH", 1_00, 100_000_00),
    "maya": _channel("PAYMAYA", 1_00, 100_000_00),
    "paymaya": _channel("PAYMAYA", 1_00, 100_000_00),
    "grabpay": _channel("GRABPAY", 1_00, 100_000_00),
    "qrph": _channel("QRPH", 1_00, 50_000_00, refund=False),
    "instapay": _channel("INSTAPAY_ONLINE_BANKING", 1, refund=False),
    "bpi": _channel("BPI_DIRECT_DEBIT", 1, 500_000_00),
    "bdo": _channel("BDO_ONLINE_BANKING", 1, refund=False),
    "unionbank": _channel("UBP_DIRECT_DEBIT", 1, refund=False),
    "rcbc": _channel("RCBC_DIRECT_DEBIT", 1),
}
