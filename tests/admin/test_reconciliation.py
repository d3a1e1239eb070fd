import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments.models import AuditEntry, Charge, Posting, ReconciliationItem, ReconciliationRun, ReportLine
from tests.admin.conftest import text_of
from tests.admin.test_pages import list_of, page_of
from tests.client import APPROVED, Api
from tests.reconciliation.factories import a_difference, reconcile
from tests.simulator.factories import taken
from tests.staff.all_merchants import for_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def outsider() -> ReconciliationItem:
    return a_difference()


@pytest.fixture
def missing_there(api: Api) -> ReconciliationItem:
    """Return a charge that the provider does not report."""
    api.charge()
    reconcile(lines=[])
    return ReconciliationItem.objects.get(kind="missing_there")


@pytest.fixture(autouse=True)
def _at_once(settings: Settings) -> None:
    settings.RECONCILIATION_MARGIN_MINUTES = 0


def act(verb: str, item: ReconciliationItem) -> str:
    return reverse(f"admin:payments_reconciliationitem_{verb}", args=[item.pk])


def found(operator: Client, **query: str) -> int:
    """How many items the list shows."""
    return text_of(operator.get(list_of(ReconciliationItem), query)).count('class="field-shown_kind">')


def test_both_sides_are_shown(
    outsider: ReconciliationItem, missing_there: ReconciliationItem, operator: Client
) -> None:
    text = text_of(operator.get(list_of(ReconciliationItem)))
    assert 'field-they_say">capture of ₱100.00<' in text
    assert 'field-we_say">nothing<' in text
    assert 'field-they_say">nothing<' in text


def test_the_page_leads_to_charge_posting_and_line(
    outsider: ReconciliationItem, missing_there: ReconciliationItem, operator: Client
) -> None:
    text = text_of(operator.get(page_of(missing_there)))
    assert page_of(Charge.objects.get()) in text
    assert page_of(Posting.objects.get(account="provider_receivable")) in text
    assert page_of(ReportLine.objects.get()) in text_of(operator.get(page_of(outsider)))


@pytest.mark.long
def test_an_item_is_found_by_every_name(missing_there: ReconciliationItem, operator: Client) -> None:
    outsider = taken(APPROVED)
    reconcile(covers_from=None)
    charge = Charge.objects.get()
    line = ReportLine.objects.get(reference=outsider.reference)
    names = (f"ch_{charge.pk.hex}", f"src_{charge.source_id.hex}", f"mer_{charge.merchant_id.hex}")
    assert ReconciliationItem.objects.count() == 2
    for name in (*names, missing_there.attempt.reference, line.reference, line.provider_ref):
        assert found(operator, q=name) == 1, name


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"state__exact": "open"}, 2),
        ({"state__exact": "closed"}, 0),
        ({"kind__exact": "missing_there"}, 1),
        ({"difference": "vanished"}, 0),
        ({"provider": "simulator"}, 2),
        # A payment without a charge of ours is in both.
        ({"mode": "test"}, 2),
        ({"mode": "live"}, 1),
        ({"charge": "unknown"}, 1),
    ],
    ids=str,
)
def test_items_are_filtered(
    query: dict[str, str], count: int, outsider: ReconciliationItem, missing_there: ReconciliationItem, operator: Client
) -> None:
    assert found(operator, **query) == count


def test_an_item_is_closed_with_a_note_and_opened_again(outsider: ReconciliationItem, operator: Client) -> None:
    assert act("close", outsider) in text_of(operator.get(page_of(outsider)))
    text = text_of(operator.post(act("close", outsider), {"note": "Ticket 77."}, follow=True))
    assert "Closed." in text
    assert act("reopen", outsider) in text
    operator.post(act("reopen", outsider), {"note": "Ticket 78."})
    after = ReconciliationItem.objects.get()
    assert (after.state, after.note, after.decided_by.username) == ("open", "Ticket 78.", "operator")
    entries = AuditEntry.objects.about(outsider).order_by("id")
    announced = [("operator", "closed", "Ticket 77."), ("operator", "reopened", "Ticket 78.")]
    assert list(entries.values_list("actor", "action", "reason")) == announced


@pytest.mark.long
@pytest.mark.parametrize("note", ["", "   ", "x" * 501, "paid with 4000000000003055"])
def test_a_note_is_wanted_without_secrets(note: str, outsider: ReconciliationItem, operator: Client) -> None:
    text = text_of(operator.post(act("close", outsider), {"note": note}))
    assert "errorlist" in text
    assert "4000000000003055" not in text
    assert ReconciliationItem.objects.get().state == "open"


def test_the_second_operator_sees_a_warning(outsider: ReconciliationItem, operator: Client) -> None:
    operator.post(act("close", outsider), {"note": "First."})
    text = text_of(operator.post(act("close", outsider), {"note": "Second."}, follow=True))
    assert "Another operator has just decided this." in text
    assert ReconciliationItem.objects.get().note == "First."
    assert AuditEntry.objects.about(outsider).count() == 1


def test_an_operator_who_may_only_look_closes_nothing(outsider: ReconciliationItem) -> None:
    looker = for_all(User.objects.create(username="looker", is_staff=True))
    looker.user_permissions.add(Permission.objects.get(codename="view_reconciliationitem"))
    client = Client()
    client.force_login(looker)
    assert act("close", outsider) not in text_of(client.get(page_of(outsider)))
    assert client.post(act("close", outsider), {"note": "Mine."}).status_code == 403
    assert ReconciliationItem.objects.get().state == "open"


def test_an_item_that_is_not_there_is_not_closed(operator: Client) -> None:
    assert operator.post(reverse("admin:payments_reconciliationitem_close", args=[7])).status_code == 404


def test_nobody_edits_an_item(outsider: ReconciliationItem, operator: Client) -> None:
    assert operator.post(page_of(outsider), {"state": "closed", "note": "By hand."}).status_code == 403


def test_a_run_says_what_it_found_and_leads_to_what_needs_somebody(
    outsider: ReconciliationItem, operator: Client
) -> None:
    run = ReconciliationRun.objects.get()
    text = text_of(operator.get(page_of(run)))
    assert f"{run.matched} of {run.lines} lines match" in text
    assert [link in text for link in ("Work through 1 row", page_of(outsider), "kind__exact=missing_here")] == [
        True
    ] * 3
    operator.post(act("close", outsider), {"note": "Ticket 77."})
    assert "Work through" not in text_of(operator.get(page_of(run)))
    assert "1 not in ledger" in text
    assert f"{list_of(ReconciliationItem)}?state__exact=open&provider=simulator" in text
