"""Which of our source types Xendit takes, and what it can do with them."""

import pytest

from payments import sourcetypes
from payments.providers.xendit.channels import CHANNELS
from tests.providers.xendit.bench import XenditBench

REFUNDABLE = {"card", "gcash", "maya", "paymaya", "grabpay", "bpi", "rcbc"}


def test_only_types_of_ours_are_named() -> None:
    assert CHANNELS.keys() <= set(sourcetypes.NAMES)


@pytest.mark.parametrize("source_type", ["alipay", "wechat", "unionpay", "pesonet"])
def test_what_xendit_does_not_have_is_not_taken(bench: XenditBench, source_type: str) -> None:
    assert bench.connector.capabilities(source_type) is None


@pytest.mark.parametrize("source_type", CHANNELS)
def test_only_a_card_is_held_and_only_some_are_refunded(bench: XenditBench, source_type: str) -> None:
    can = bench.connector.capabilities(source_type)
    assert can is not None
    assert (can.hold, can.refund, can.partial_refund) == (source_type == "card", *[source_type in REFUNDABLE] * 2)
    assert not can.void_captured


@pytest.mark.parametrize(
    ("amount", "currency", "is_taken"),
    [
        (19_99, "PHP", False),
        (20_00, "PHP", True),
        (700_000_00, "PHP", True),
        (700_000_01, "PHP", False),
        (5_000, "USD", False),
    ],
)
def test_a_card_is_taken_within_its_limits(bench: XenditBench, amount: int, currency: str, is_taken: bool) -> None:
    can = bench.connector.capabilities("card")
    assert can is not None
    assert can.takes(amount, currency) is is_taken
