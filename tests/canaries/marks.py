"""Marked card numbers and security codes, which occur nowhere by chance, so that a trace of one is a leak.

And the shapes in which programs quote a card in an error.
"""

import json
from collections.abc import Callable
from urllib.parse import quote, urlencode

from payments.sensitive_data.luhn import luhn_valid

# All marked numbers begin so; brand, first eight and last four digits may be shown, and are less than this.
MARK = "49739160285"
# No number that a program prints begins with a zero.
SOURCE_CVC = "0739"
CHARGE_CVC = "0846"
CVCS = (SOURCE_CVC, CHARGE_CVC)
# By the two digits after the mark, the test card whose outcome a marked card shares.
TWINS = {
    11: "4000000000003055",
    12: "4242424242424242",
    13: "4000000000000002",
    14: "4000000000009995",
    15: "4000000000009987",
    16: "4000000000009979",
    17: "4000000000000069",
    18: "4000000000000127",
    19: "4000000000000119",
    21: "4000000000000341",
    22: "4000000000005126",
    23: "4000000000007726",
    24: "4000000000005100",
    25: "4000000000005118",
}
CODES = {twin: code for code, twin in TWINS.items()}


def marked(code: int, serial: int) -> str:
    """Return the marked card number with these digits after the mark.

    `code` must not end in 0, and the last four digits must not begin with 0."""
    digits = f"{MARK}{code:02}{serial:02}"
    return next(number for number in (f"{digits}{check}" for check in range(10)) if luhn_valid(number))


def code_of(number: str) -> int | None:
    """Return the two digits after the mark of a marked number, or None."""
    return int(number[len(MARK) :][:2]) if number.startswith(MARK) else None


Shape = Callable[[str, str], str]


def in_groups(number: str, between: str) -> str:
    """Return the digits in groups of four, as on a card."""
    return between.join(number[start : start + 4] for start in range(0, len(number), 4))


# From a card number and a security code to a text with both.
SHAPES: dict[str, Shape] = {
    "json": lambda number, cvc: json.dumps({"card": {"number": number, "cvc": cvc}}),
    "json in json": lambda number, cvc: json.dumps({"body": json.dumps({"number": number, "cvc": cvc})}),
    "camel case": lambda number, cvc: json.dumps({"cardNumber": number, "securityCode": cvc}),
    "python": lambda number, cvc: repr({"number": number, "cvv2": cvc}),
    "python bytes": lambda number, cvc: repr(f'{{"number":"{number}","cvc":"{cvc}"}}'.encode()),
    "tuple": lambda number, cvc: repr((number, cvc)),
    "form": lambda number, cvc: f"card[number]={number}&card[cvc]={cvc}",
    "encoded form": lambda number, cvc: urlencode({"card[number]": number, "card[cvc]": cvc}),
    "encoded groups": lambda number, cvc: f"number={quote(in_groups(number, ' '))}&cvc={cvc}",
    "form groups": lambda number, cvc: urlencode({"cvc": cvc, "number": in_groups(number, " ")}),
    "xml": lambda number, cvc: f"<CardNumber>{number}</CardNumber><CVV2>{cvc}</CVV2>",
    "xml attribute": lambda number, cvc: f'<Card number="{number}" securityCode="{cvc}"/>',
    "words": lambda number, cvc: f"card {in_groups(number, ' ')}, security code {cvc}",
    "dashes": lambda number, cvc: f"{in_groups(number, '-')} CVC: {cvc}",
    "track": lambda number, cvc: f"%B{number}^DELA CRUZ/JUAN^391210100000{cvc}00000000?",
    "hex": lambda number, cvc: f"{number} {cvc}".encode().hex(),
}
