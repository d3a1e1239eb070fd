"""Amounts as people read them."""

import pytest

from payments.money import shown_amount


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (123_450, "PHP", "₱1,234.50"),
        (-150, "PHP", "−₱1.50"),
        (5, "PHP", "₱0.05"),
        (0, "PHP", "₱0.00"),
        (99_999_999_999, "PHP", "₱999,999,999.99"),
        (4_800, "USD", "USD\xa048.00"),
        (1_234, "JPY", "JPY\xa01,234"),
        (1_234_567, "KWD", "KWD\xa01,234.567"),
        (-150, "EUR", "−EUR\xa01.50"),
        (7, "XAU", "XAU\xa07"),
    ],
)
def test_an_amount_has_the_decimals_of_its_currency_and_pesos_their_sign(amount: int, currency: str, text: str) -> None:
    assert shown_amount(amount, currency) == text


def test_an_unknown_currency_is_refused() -> None:
    with pytest.raises(ValueError, match="ZZZ"):
        shown_amount(1, "ZZZ")
