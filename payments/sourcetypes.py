"""The source types, for serializers, admin, pages, routing and docs; `shown` also knows earlier ones."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
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
    kind: Kind
    label: str
    shows_qr: bool = False
    asks_pin: bool = False
    bic: str = ""


SOURCE_TYPES = (
    SourceType("card", Kind.CARD, "Card"),
    SourceType("gcash", Kind.WALLET, "GCash"),
    SourceType("maya", Kind.WALLET, "Maya"),
    SourceType("paymaya", Kind.WALLET, "PayMaya"),
    SourceType("grabpay", Kind.WALLET, "GrabPay"),
    SourceType("alipay", Kind.WALLET, "Alipay", shows_qr=True),
    SourceType("wechat", Kind.WALLET, "WeChat Pay", shows_qr=True),
    SourceType("unionpay", Kind.WALLET, "UnionPay"),
    SourceType("qrph", Kind.SCHEME, "QR Ph", shows_qr=True),
    SourceType("instapay", Kind.SCHEME, "InstaPay"),
    SourceType("pesonet", Kind.SCHEME, "PESONet"),
    SourceType("bpi", Kind.BANK, "BPI", asks_pin=True, bic="BOPIPHMM"),
    SourceType("bdo", Kind.BANK, "BDO", bic="BNORPHMM"),
    SourceType("unionbank", Kind.BANK, "UnionBank", asks_pin=True, bic="UBPHPHMM"),
    SourceType("rcbc", Kind.BANK, "RCBC", bic="RCBCPHMM"),
)
NAMES = tuple(source_type.name for source_type in SOURCE_TYPES)
BY_NAME = {source_type.name: source_type for source_type in SOURCE_TYPES}
CARD = "card"


def shown(name: str) -> SourceType:
    """Return the source type of something stored; one that is not offered any more has its name for a label."""
    return BY_NAME.get(name) or SourceType(name, Kind.WALLET, name)
