"""One report in 200 forms is read alike, by the layout that is proposed for it, or refused with the line."""

from datetime import datetime
from random import Random

import pytest

from payments.domain.reconciliation.columns import examples, proposal, readers
from payments.domain.reconciliation.columns.layout import Meaning
from payments.domain.reconciliation.files import BadReport
from tests.reconciliation.columns.files import report, sheets, short, text_of

pytestmark = pytest.mark.long
NAMES = {
    "date": ("Date", "Transaction Date", "Buchungstag", "created_utc", "Fecha"),
    "reference": ("Merchant Reference", "order_id", "Kundenreferenz", "Our Reference"),
    "kind": ("Type", "Transaction Type", "Art", "reporting_category"),
    "amount": ("Amount", "Gross", "Betrag", "Importe"),
    "currency": ("Currency", "Währung", "CCY", "moneda"),
    "extra": ("Store", "Terminal", "Card Brand", "Bin"),
}
WORDS = {"charge": ("Sale", "PAYMENT", "Charge", "captured"), "refund": ("Refund", "REFUNDED", "Erstattung")}
FORMS = (
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%Y-%m-%d",
    "%d %b %Y",
    "%Y-%m-%dT%H:%M:%SZ",
    "%b %d, %Y",
    "%d-%b-%y %H:%M",
)
DAYS = ("2026-11-05", "2026-11-17", "2026-11-28", "2026-11-30")
MONEY = (123450, 50, -100000, 9900000)


def written(amount: int, draw: Random, decimal: str, style: str) -> str:
    whole, rest = divmod(abs(amount), 100)
    group = {".": draw.choice(("", ",")), ",": draw.choice(("", ".", " "))}[decimal]
    digits = f"{whole:,}".replace(",", group) + f"{decimal}{rest:02}"
    if amount > 0:
        return digits
    return {"before": f"-{digits}", "after": f"{digits}-", "around": f"({digits})"}[style]


def made(draw: Random) -> bytes:
    """Return the report in some form."""

    form, decimal, style = draw.choice(FORMS), draw.choice(".,"), draw.choice(("before", "after", "around"))
    columns = draw.sample(list(NAMES), len(NAMES))
    header = [draw.choice(NAMES[name]) for name in columns]
    rows = []
    words = {kind: draw.choice(known) for kind, known in WORDS.items()}
    for place, (day, amount) in enumerate(zip(DAYS, MONEY, strict=True)):
        cells = {
            "date": datetime.fromisoformat(day).strftime(form),
            "reference": f"order-{place}",
            "kind": words["charge" if amount > 0 else "refund"],
            "amount": written(amount, draw, decimal, style),
            "currency": draw.choice(("PHP", "php", " PHP ")),
            "extra": draw.choice(("", "Store 7; east", 'a "quoted" name', "two\nlines")),
        }
        rows.append([cells[name] for name in columns])
    sums = [["Total", *[""] * (len(columns) - 2), "1.00"]] if draw.random() < 0.3 else []
    letterhead = [["Acme Payments"], [], ["Merchant", "M-1"]] if draw.random() < 0.3 else []
    table = [*letterhead, header, *rows, *([[""] * len(columns)] if draw.random() < 0.3 else []), *sums]
    if draw.random() < 0.05:
        return sheets(Lines=table)
    text = text_of(table, draw.choice(",;\t|"), quoting=draw.choice((0, 1)))
    return text.replace("\n", draw.choice(("\n", "\r\n"))).encode(
        draw.choice(("utf-8", "utf-8-sig", "utf-16", "cp1252"))
    )


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_one_report_in_many_forms_is_read_alike(first: int) -> None:
    wanted = [(f"order-{place}", "capture" if amount > 0 else "refund", amount) for place, amount in enumerate(MONEY)]
    for seed in range(first, first + 50):
        raw = made(Random(seed))
        proposed = proposal.propose(examples.sample_of(raw), is_bank=False)
        assert short(readers.lines_of(raw, report(proposed.layout))) == wanted, (seed, proposed)
        assert {*proposed.layout.kinds.values()} == {Meaning.CHARGE, Meaning.REFUND}, seed


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_a_damaged_report_loses_one_row_or_says_what_it_lost(first: int) -> None:
    refused, said = list[str](), 0
    for seed in range(first, first + 50):
        draw = Random(seed)
        raw = made(draw)
        layout = proposal.propose(examples.sample_of(raw), is_bank=False).layout
        whole = readers.lines_of(raw, report(layout))
        at = draw.randrange(len(raw))
        damaged = raw[:at] + draw.choice((b"", bytes([draw.randrange(256)]), raw[at : at + 9] * 2)) + raw[at + 1 :]
        try:
            found = readers.lines_of(damaged, report(layout))
        except BadReport as fault:
            refused.append(str(fault))
        else:
            unread = [line for line in found if line.kind == "unread"]
            said += bool(unread)
            # A digit that is another digit is seen by nobody but the matcher.
            assert len({*whole} - {*found}) <= 1 or unread, seed
    assert said
    assert refused
    assert [fault for fault in refused if not fault.startswith(("line ", "no entries", "it is no "))] == []
