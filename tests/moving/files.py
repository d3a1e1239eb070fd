"""Files of customers as other providers hand them over, and what an import says of them."""

import csv
import io
from pathlib import Path
from typing import Any

from payments.domain.approvals import decide
from payments.domain.approvals.request import submit
from payments.ids import new_id
from payments.models import ApprovalRequest, Merchant
from tests.operators.corrections import NOTE, operator

HERE = Path(__file__).parent
VISA, MASTERCARD = "4242424242424242", "5555555555554444"
STRIPE = (HERE / "stripe.json").read_text()
with (HERE / "hyperswitch.csv").open(newline="") as file:
    [ANNA] = csv.DictReader(file)


class Brought:
    """The result of an import by line, and what was said."""

    def __init__(self, result: str, said: str) -> None:
        self.result, self.said = list(csv.DictReader(result.removeprefix("\ufeff").splitlines())), said

    def row(self, line: int) -> dict[str, str]:
        [row] = [row for row in self.result if row["line"] == f"{line}"]
        return row


def csv_of(*rows: dict[str, str]) -> str:
    text = io.StringIO()
    names = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(text, names, restval="", quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def anna(**changes: str) -> dict[str, str]:
    return ANNA | changes


def numbered(count: int) -> list[dict[str, str]]:
    """Return rows of cards, two for each customer."""
    own = anna(consent_text="", consent_at="")
    return [own | {"customer_id": f"c-{row // 2}", "payment_instrument_id": f"pm-{row}"} for row in range(count)]


def approved(merchant: Merchant, **asked: Any) -> None:
    """Have one operator ask to move customers, and another approve it."""
    own, kind = new_id(), ApprovalRequest.Kind.MOVE_CUSTOMERS
    request = ApprovalRequest(id=own, subject_id=own, merchant=merchant, kind=kind, after=asked, reason="The move")
    request.proposed_by = operator("ana")
    submit(request)
    decide.approve(request, operator("cleo"), NOTE)
