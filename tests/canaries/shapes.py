"""The shapes in which programs quote a card in an error."""

import json
from collections.abc import Callable
from urllib.parse import quote, urlencode

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
