"""Card numbers in disguise that are not found, and ordinary texts that are refused for a card number."""

import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address
from itertools import cycle
from time import process_time
from urllib.parse import quote, urlencode

from payments.sensitive_data.card_numbers import holds_card_number, holds_taken_card
from payments.sensitive_data.card_ranges import SCHEMES
from payments.sensitive_data.luhn import luhn_valid

Draw = random.Random
FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")

# From a card number to what somebody, or some program, makes of it.
DISGUISES: Mapping[str, Callable[[str], str]] = {
    "none": lambda number: number,
    "blanks": lambda number: grouped(number, " "),
    "dashes": lambda number: grouped(number, "-"),
    "dots": lambda number: grouped(number, "."),
    "slashes": lambda number: grouped(number, "/"),
    "tabs": lambda number: grouped(number, "\t"),
    "double blanks": lambda number: grouped(number, "  "),
    "blanks between all digits": " ".join,
    "dots between all digits": ".".join,
    "commas between all digits": ", ".join,
    "colons between all digits": ":".join,
    "alternating marks between all digits": lambda number: "".join(map("".join, zip(number, cycle(".,")))),
    "an x between all digits": "x".join,
    "full-width digits": lambda number: number.translate(FULL_WIDTH),
    "Arabic digits": lambda number: number.translate(ARABIC),
    "zero-width blanks": lambda number: grouped(number, "\u200b"),
    "word joiners between all digits": "\u2060".join,
    "colons": lambda number: grouped(number, ":"),
    "an x between groups": lambda number: grouped(number, "x"),
    "an x among blanks": lambda number: grouped(number, " X "),
    "new lines": lambda number: grouped(number, "\r\n"),
    "blanks in an address": lambda number: grouped(number, "%20"),
    "blanks of a form": lambda number: grouped(number, "+"),
    "blanks of a form between all digits": "+".join,
    "digits in an address": lambda number: "".join(f"%{ord(digit):02x}" for digit in number),
    "escaped twice": lambda number: grouped(number, "%2520"),
    "blanks in HTML": lambda number: grouped(number, "&nbsp;"),
    "digits in HTML": lambda number: "".join(f"&#{ord(digit)};" for digit in number),
    "blanks in JSON": lambda number: grouped(number, r"\u00a0"),
    "full-width digits in an address": lambda number: quote(number.translate(FULL_WIDTH)),
    "soft hyphens": lambda number: grouped(number, "\u00ad"),
    "a letter before": lambda number: f"x{number}",
    "a letter behind": lambda number: f"{number}y",
    "hex letters on both sides": lambda number: f"a{number}b",
    "an order": lambda number: f"order_{number}",
    "a track": lambda number: f"%B{number}^DELA CRUZ/JUAN^3912101000",
}


def grouped(number: str, between: str) -> str:
    """Return the digits in the groups of a printed card, with `between` between them."""
    if len(number) in (14, 15):
        return between.join([number[:4], number[4:10], number[10:]])
    if len(number) == 13:
        return between.join([number[:4], number[4:7], number[7:10], number[10:]])
    return between.join(number[start : start + 4] for start in range(0, len(number), 4))


def card_number(draw: Draw) -> str:
    """Return a card number of any scheme, range and length."""
    ranges, lengths = draw.choice(list(SCHEMES.values()))
    first, last = draw.choice(ranges)
    beginning = f"{draw.randint(int(first), int(last)):0{len(first)}}"
    number = beginning + digits(draw, draw.choice(lengths) - len(beginning) - 1)
    return next(f"{number}{check}" for check in range(10) if luhn_valid(f"{number}{check}"))


def digits(draw: Draw, count: int) -> str:
    return f"{draw.randrange(10**count):0{count}}" if count else ""


def moment(draw: Draw) -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(microseconds=draw.randrange(4 * 365 * 24 * 3600 * 10**6))


def iban(draw: Draw, country: str, account: str) -> str:
    """Return an IBAN with the check digits of ISO 13616."""
    number = int("".join(str(int(letter, 36)) for letter in f"{account}{country}00"))
    return f"{country}{98 - number % 97:02}{account}"


def article(draw: Draw) -> str:
    """Return an EAN-13 of the Philippines, Germany or Japan."""
    number = draw.choice(["480", "40", "42", "45", "49"])
    number += digits(draw, 12 - len(number))
    total = sum(map(int, number[::2])) + 3 * sum(map(int, number[1::2]))
    return f"{number}{-total % 10}"


def bank_account(draw: Draw) -> str:
    return draw.choice(
        [
            iban(draw, "DE", digits(draw, 18)),
            iban(draw, "FR", f"300{digits(draw, 20)}"),
            iban(draw, "GB", f"LOYD30{digits(draw, 12)}"),
            iban(draw, "NL", f"INGB{digits(draw, 10)}"),
        ]
    )


# What merchants write into such texts.
ORDINARY: Mapping[str, Callable[[Draw], str]] = {
    "date and counter": lambda draw: f"Order {moment(draw):%Y%m%d}{draw.randrange(10**5):08}",
    "date of six digits and counter": lambda draw: f"{moment(draw):%y%m%d}{draw.randrange(10**5):010}",
    "day first and counter": lambda draw: f"{moment(draw):%d%m%Y}{draw.randrange(10**4):08}",
    "date, time and counter": lambda draw: f"{moment(draw):%y%m%d%H%M%S}{draw.randrange(10**4):04}",
    "milliseconds": lambda draw: f"{moment(draw):%Y%m%d%H%M%S}{draw.randrange(1000):03}",
    "seconds since 1970": lambda draw: f"{int(moment(draw).timestamp() * 10 ** draw.choice([0, 3, 6])):d}",
    "ISO 8601": lambda draw: f"{moment(draw).isoformat()} to {moment(draw).isoformat(' ')}",
    "Philippine phones": lambda draw: f"{draw.choice(['+63', '63', '0063'])}9{digits(draw, 9)}",
    "German phones": lambda draw: f"+49 15{digits(draw, 9)}, +4915{digits(draw, 9)}",
    "IBAN": bank_account,
    "IBAN in groups": lambda draw: " ".join(map("".join, _fours(bank_account(draw)))),
    "UUID": lambda draw: str(uuid.UUID(int=draw.getrandbits(128), version=4)),
    "our IDs": lambda draw: f"ch_{draw.getrandbits(128):032x}",
    "other hex IDs": lambda draw: f"{draw.getrandbits(256):064x}"[: draw.choice([24, 40, 64])],
    "articles (EAN-13)": article,
    "tracking numbers": lambda draw: draw.choice(["1Z999AA1", "JD0146", "LX", "SPXPH04"]) + digits(draw, 10),
    "amounts": lambda draw: ", ".join(f"{draw.randrange(10**7) / 100:,.2f}" for _ in range(5)),
    "an address with times": lambda draw: urlencode({"since": moment(draw).isoformat(), "until": moment(draw)}),
    "IPv6 addresses": lambda draw: str(IPv6Address(0x2400 << 112 | draw.getrandbits(112))),
    "times and sizes": lambda draw: f"{moment(draw):%H:%M:%S.%f} 1920x1080x{digits(draw, 3)} {moment(draw):%Y:%m:%d}",
    "addresses of devices": lambda draw: ":".join(digits(draw, 2) for _ in range(8)),
    "orders of marketplaces": lambda draw: f"Order 57{digits(draw, 16)}",
    "ratings": lambda draw: ", ".join(digits(draw, 1) for _ in range(12)),
    "thirteen to nineteen digits at random": lambda draw: digits(draw, draw.choice([13, 14, 15, 17, 18, 19])),
    "sixteen digits at random": lambda draw: digits(draw, 16),
}


def _fours(text: str) -> Iterator[str]:
    return (text[start : start + 4] for start in range(0, len(text), 4))


def card_texts(texts: int, seed: int) -> dict[str, object]:
    """Count both errors by kind, in texts of which half hold a card number."""
    draw, started = Draw(seed), process_time()
    each, every = texts // 2 // len(DISGUISES), texts // 2 // len(ORDINARY)
    missed, alarms = Counter[str](), Counter[str]()
    for kind, disguise in DISGUISES.items():
        missed[kind] = sum(not holds_card_number(f"paid by {disguise(card_number(draw))}, thanks") for _ in range(each))
    for kind, make in ORDINARY.items():
        alarms[kind] = sum(holds_taken_card(make(draw)) for _ in range(every))
    return {
        "seed": seed,
        "card_numbers": each * len(DISGUISES),
        "missed": missed.total(),
        "missed_by_disguise": {kind: f"{100 * count / each:.3g} %" for kind, count in missed.items()},
        "ordinary_texts": every * len(ORDINARY),
        "false_alarms": alarms.total(),
        "false_alarms_by_kind": {kind: f"{100 * count / every:.3g} %" for kind, count in alarms.items()},
        "microseconds_each": round((process_time() - started) * 1e6 / texts, 1),
    }
