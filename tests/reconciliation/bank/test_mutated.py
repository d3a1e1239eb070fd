"""Files of banks that were changed at random are read, or refused with the line; nothing else happens."""

from collections.abc import Callable
from random import Random

import pytest

from payments.domain.reconciliation.bank import camt as camt_reader
from payments.domain.reconciliation.bank import mt940 as mt940_reader
from payments.domain.reconciliation.bank.statements import ReadStatement, decode
from payments.domain.reconciliation.files import BadReport
from tests.reconciliation.bank.files import camt, details, entry, mt940

XML = camt(entry("-10.00", details("A", "B", amount="5.00")), entry("7.00", details("C", reason="AC04"), ref="R"))
SWIFT = mt940(
    [":61:2611261126D10,NTRFA//B", ":86:166?00X?20EREF+C?21D", ":61:2611261126C7,NRTINONREF", ":86:/RTRN/AC04/"]
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (XML, lambda text: camt_reader.read(text, lambda _: None)),
        (SWIFT, lambda text: mt940_reader.read(text, lambda _: None)),
    ],
    ids=["camt", "mt940"],
)
def test_a_mutated_file_is_read_or_refused_in_words(text: str, read: Callable[[str], list[ReadStatement]]) -> None:
    faults = []
    for seed in range(200):
        changed = mutated(text, Random(seed))
        try:
            for line in (line for statement in read(changed) for line in statement.lines):
                assert line.kind in ("booked", "unread")
                assert line.booked_at or line.word
        except BadReport as fault:
            faults.append(str(fault))
    assert 0 < len(faults) < 200
    assert [fault for fault in faults if not fault.startswith(("line ", "it has a document type"))] == []


def mutated(text: str, draw: Random) -> str:
    """Return `text` with some of its characters or lines changed, moved, doubled or taken out."""
    for _ in range(draw.randint(1, 3)):
        at, to = sorted((draw.randrange(len(text)), draw.randrange(len(text))))
        to = min(to, at + draw.choice((1, 2, 40)))
        new = draw.choice(("", draw.choice("<>&0-:,é\n9A"), text[at:to] * 2, text[at:to][::-1], "\x01", "2026-02-30"))
        text = text[:at] + new + text[to:]
    return text


def test_bytes_that_are_no_text_of_a_bank_are_refused() -> None:
    for raw in (b"<?xml version='1.0' encoding='punycode'?><a/>", b"\0\0", b"x" * 99):
        with pytest.raises(BadReport):
            decode(raw, 90)
