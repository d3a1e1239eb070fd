"""The source types, for serializers, admin, pages, routing and docs; `shown` also knows earlier ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Means(StrEnum):
    """The kind of a source type."""

    CARD = "card"
    WALLET = "wallet"
    SCHEME = "scheme"
    BANK = "bank"


@dataclass(frozen=True, slots=True)
class SourceType:
    """A source type: its `name` in the API, its kind, and its `label` on pages.

    `shows_qr`: the payer scans a QR code. `asks_pin`: the payer confirms a debit by a one-time PIN. `bic`: the bank's.
    """

    name: str
    kind: Means
    label: str
    shows_qr: bool = False
    asks_pin: bool = False
    bic: str = ""


SOURCE_TYPES = (
    SourceType("card", Means.CARD, "Card"),
    SourceType("gcash", Means.WALLET, "GCash"),
    SourceType("maya", Means.WALLET, "Maya"),
    SourceType("paymaya", Means.WALLET, "PayMaya"),
    SourceType("grabpay", Means.WALLET, "GrabPay"),
    SourceType("alipay", Means.WALLET, "Alipay", shows_qr=True),
    SourceType("wechat", Means.WALLET, "WeChat Pay", shows_qr=True),
    SourceType("unionpay", Means.WALLET, "UnionPay"),
    SourceType("qrph", Means.SCHEME, "QR Ph", shows_qr=True),
    SourceType("instapay", Means.SCHEME, "InstaPay"),
    SourceType("pesonet", Means.SCHEME, "PESONet"),
    SourceType("bpi", Means.BANK, "BPI", asks_pin=True, bic="BOPIPHMM"),
    SourceType("bdo", Means.BANK, "BDO", bic="BNORPHMM"),
    SourceType("unionbank", Means.BANK, "UnionBank", asks_pin=True, bic="UBPHPHMM"),
    SourceType("rcbc", Means.BANK, "RCBC", bic="RCBCPHMM"),
)
NAMES = tuple(source_type.name for source_type in SOURCE_TYPES)
BY_NAME = {source_type.name: source_type for source_type in SOURCE_TYPES}
CARD = "card"
# The former names of wallets: the provider has one wallet for both.
FORMER = {"paymaya": "maya"}


def named_once(names: Iterable[str]) -> list[str]:
    """Return the types that people choose from: no former name beside the present one."""
    taken = list(names)
    return [name for name in taken if FORMER.get(name) not in taken]


def shown(name: str) -> SourceType:
    """Return the source type of something stored; one that is not offered any more has its name for a label."""
    return BY_NAME.get(name) or SourceType(name, Means.WALLET, name)
