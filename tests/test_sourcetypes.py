"""The table of source types is the contract's."""

from payments.sourcetypes import BY_NAME, CARD, NAMES, SOURCE_TYPES, Means

CONTRACT = {
    "card": "Card",
    "wallet": "GCash, Maya, PayMaya, GrabPay, Alipay, WeChat Pay, UnionPay",
    "scheme": "QR Ph, InstaPay, PESONet",
    "bank": "BPI, BDO, UnionBank, RCBC",
}


def test_every_kind_has_its_types_with_their_labels() -> None:
    labels = {str(kind): ", ".join(row.label for row in SOURCE_TYPES if row.kind == kind) for kind in Means}
    assert labels == CONTRACT


def test_names_are_the_fifteen_lowercase_identifiers() -> None:
    expected = "card gcash maya paymaya grabpay alipay wechat unionpay qrph instapay pesonet bpi bdo unionbank rcbc"
    assert " ".join(NAMES) == expected
    assert BY_NAME[CARD].kind is Means.CARD


def test_the_debits_of_two_banks_ask_for_a_pin() -> None:
    assert [row.name for row in SOURCE_TYPES if row.asks_pin] == ["bpi", "unionbank"]
