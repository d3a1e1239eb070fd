"""Amounts as people read them."""

import pytest

from payments.money import format_amount, shown_amount


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (123_450, "PHP", "PHP 1,234.50"),
        (5, "PHP", "PHP 0.05"),
        (0, "PHP", "PHP 0.00"),
        (99_999_999_999, "PHP", "PHP 999,999,999.99"),
        (1_234, "JPY", "JPY 1,234"),
        (1_234_567, "KWD", "KWD 1,234.567"),
        (-150, "EUR", "EUR -1.50"),
        (7, "XAU", "XAU 7"),
    ],
)
def test_an_amount_has_the_decimals_of_its_currency(amount: int, currency: str, text: str) -> None:
    assert format_amount(amount, currency) == text


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [(123_450, "PHP", "₱1,234.50"), (4_800, "USD", "USD\xa048.00"), (1_234, "JPY", "JPY\xa01,234")],
)
def test_a_payer_reads_pesos_with_their_sign(amount: int, currency: str, text: str) -> None:
    assert shown_amount(amount, currency) == text


def test_an_unknown_currency_is_refused() -> None:
    with pytest.raises(ValueError, match="ZZZ"):
        format_amount(1, "ZZZ")
