"""Reports as they occur at companies, in `tests/cases`, and what each must come to."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from payments.domain.reconciliation import uploads
from payments.domain.reconciliation.layouts import LAYOUTS
from payments.models import Attempt, Posting, ReconciliationItem, ReconciliationRun, ReportLine, ReportUpload
from tests.admin.conftest import text_of, the_operator, words_of
from tests.admin.test_pages import list_of, page_of
from tests.client import Api, signed_in
from tests.reconciliation.factories import kinds

pytestmark = pytest.mark.django_db

CASES = Path(__file__).parents[2] / "cases"
PAYMENT = "0190a1fc472ce874b1b67520502f7850"


def read_in(api: Api, name: str) -> ReconciliationRun:
    """Upload a case, in which a payment of ours is named, and let a worker read it; return its run."""
    provider = name.partition("-")[0]
    api.charge()
    Attempt.objects.update(provider=provider)
    text = (CASES / name).read_text().replace(PAYMENT, Attempt.objects.get().reference)
    operator, _ = User.objects.get_or_create(username="maria")
    uploads.submit(provider, name, text.encode(), operator, None, None)
    assert uploads.read_due()
    upload = ReportUpload.objects.get()
    assert upload.state == "done", upload.fault
    assert upload.run
    return upload.run


# The rows below the header, the lines, those that match our one capture, and the items.
CASES_READ: dict[str, tuple[int, int, int, list[str]]] = {
    "adyen-automatic-capture.csv": (1, 1, 1, []),
    "adyen-batch-without-payments.csv": (3, 0, 0, []),
    "adyen-empty-lines-first.csv": (1, 1, 1, []),
    "adyen-line-before-the-header.csv": (1, 1, 1, []),
    "adyen-semicolons.csv": (1, 1, 1, []),
    "adyen-two-equal-corrections.csv": (2, 2, 0, ["missing_here", "missing_here"]),
    "adyen-zero-amount.csv": (2, 1, 1, []),
    "xendit-disbursement.csv": (2, 0, 0, []),
    "xendit-foreign-reference.csv": (2, 2, 1, ["missing_here"]),
}


@pytest.mark.long
@pytest.mark.parametrize(("name", "expected"), CASES_READ.items(), ids=CASES_READ)
def test_a_case_is_read_with_its_right_value(name: str, expected: tuple[int, int, int, list[str]], api: Api) -> None:
    run = read_in(api, name)
    assert (run.upload.rows, run.lines, run.matched, kinds()) == expected
    assert ReportLine.objects.filter(posting__isnull=False).count() == run.matched


def test_every_case_of_a_report_is_tested() -> None:
    found = {path.name for path in CASES.glob("*.csv") if path.name.partition("-")[0] in LAYOUTS}
    assert found == CASES_READ.keys()


def test_equal_corrections_are_read_once_however_often_their_report_is(api: Api) -> None:
    run = read_in(api, "adyen-two-equal-corrections.csv")
    ReportUpload.objects.all().delete()
    text = (CASES / "adyen-two-equal-corrections.csv").read_bytes()
    uploads.submit("adyen", "again.csv", text, User.objects.get(), None, None)
    assert uploads.read_due()
    again = ReconciliationRun.objects.exclude(pk=run.pk).get()
    assert (again.lines, again.new_lines, again.new_items) == (2, 0, 0)
    assert list(ReportLine.objects.order_by("pk").values_list("nth", "number")) == [(1, 2), (2, 3)]


def test_a_correction_that_names_nothing_of_ours_is_not_in_the_ledger(api: Api) -> None:
    read_in(api, "adyen-two-equal-corrections.csv")
    client = signed_in(the_operator())
    text = text_of(client.get(list_of(ReconciliationItem)))
    assert text.count('field-they_say">ManualCorrected of ₱5.00<') == text.count('field-we_say">nothing<') == 2
    assert set(ReconciliationItem.objects.values_list("kind", flat=True)) == {"missing_here"}


def test_a_foreign_reference_that_a_spreadsheet_would_run_is_kept_as_it_is(api: Api) -> None:
    read_in(api, "xendit-foreign-reference.csv")
    item = ReconciliationItem.objects.get()
    assert item.line
    assert (item.line.reference, item.attempt) == ("@sari", None)


def test_an_automatic_capture_matches_the_capture_of_its_payment(api: Api) -> None:
    read_in(api, "adyen-automatic-capture.csv")
    line = ReportLine.objects.get()
    assert (line.attempt, line.posting) == (Attempt.objects.get(), Posting.objects.get(account="provider_receivable"))


@pytest.mark.long
def test_a_row_that_cannot_be_read_has_a_page_with_its_reason_and_its_line(api: Api) -> None:
    api.charge()
    Attempt.objects.update(provider="adyen")
    rows = (CASES / "adyen-automatic-capture.csv").read_text().replace(PAYMENT, Attempt.objects.get().reference)
    text = rows + rows.splitlines()[1].replace("100.00", "much") + "\n"
    uploads.submit("adyen", "november.csv", text.encode(), User.objects.create(username="maria"), None, None)
    assert uploads.read_due()
    item = ReconciliationItem.objects.get()
    assert (item.kind, item.charge, item.posting) == ("unread", Attempt.objects.get().charge, None)
    client = signed_in(the_operator())
    page = text_of(client.get(page_of(item)))
    assert "column Gross Credit (GC): must be an amount of PHP in digits" in page
    assert "Line of the report" in page
    line = ReportLine.objects.get(kind="unread")
    for address in (list_of(ReconciliationItem), list_of(ReportLine), page_of(line), page_of(item.run), "/admin/"):
        assert "XXX" not in words_of(client.get(address))
