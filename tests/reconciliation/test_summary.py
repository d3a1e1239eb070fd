"""What the page of a run says of matched, differing and missing movements, by currency."""

from pathlib import Path

import pytest
from django.urls import reverse

from payments.domain.reconciliation.summary import parts_of
from payments.models import Posting, ReportLine
from tests.admin.conftest import text_of, the_operator
from tests.client import APPROVED, Api, signed_in
from tests.reconciliation.factories import pay_in_every_way, reconcile, reconcile_file, tampered
from tests.simulator.factories import taken

pytestmark = pytest.mark.django_db


def found(run: object) -> dict[tuple[str, str], tuple[int, int, int]]:
    return {(part.name, part.currency): (part.count, part.reported, part.posted) for part in parts_of(run)}


def test_matched_movements_are_the_same_on_both_sides(api: Api) -> None:
    pay_in_every_way(api)
    run = reconcile()
    lines, postings = ReportLine.objects.all(), Posting.objects.filter(account="provider_receivable")
    assert len(lines) == len(postings)
    total = sum(line.amount for line in lines)
    assert found(run) == {("matched", "PHP"): (len(lines), total, total)}


def test_every_difference_has_its_sides(api: Api, tmp_path: Path) -> None:
    for _ in range(4):
        api.charge()
    taken(APPROVED)

    def tamper(rows: list[dict[str, str]]) -> None:
        rows[0].update(amount="1.00")
        rows[1].update(currency="JPY", amount="100")
        del rows[2]

    run = reconcile_file(tampered(tmp_path / "report.csv", tamper))
    assert found(run) == {
        ("matched", "PHP"): (1, 10_000, 10_000),
        ("missing_here", "PHP"): (1, 10_000, 0),
        ("missing_there", "PHP"): (1, 0, 10_000),
        ("amount_differs", "PHP"): (1, 100, 10_000),
        ("currency_differs", "JPY"): (1, 100, 0),
    }


def test_the_page_of_a_run_shows_its_parts_and_leads_to_its_items(api: Api) -> None:
    api.charge()
    taken(APPROVED)
    run = reconcile()
    client = signed_in(the_operator())
    page = text_of(client.get(reverse("admin:payments_reconciliationrun_change", args=[run.pk])))
    assert "Matched" in page
    assert "Not in ledger" in page
    items = reverse("admin:payments_reconciliationitem_changelist")
    assert f"{items}?run={run.pk}" in page
    listed = text_of(client.get(items, {"run": run.pk})).replace("\xa0", " ")
    assert "In reports" in listed
    assert "₱100.00" in listed.split("list-sums")[1]
    assert "Nothing matches these filters" in text_of(client.get(items, {"run": run.pk + 1}))
