"""The audit log as a file: what the list shows, and for whom; the export is recorded."""

import csv
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import AuditEntry
from tests.admin.conftest import text_of
from tests.admin.test_pages import list_of
from tests.audit.conftest import link_now
from tests.factories import MerchantFactory

pytestmark = pytest.mark.long

EXPORT = reverse("admin:payments_auditentry_export")


def exported(client: Client, **filters: str) -> list[dict[str, str]]:
    response = client.get(EXPORT, filters)
    assert response.status_code == 200
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(StringIO(text, newline="")))


def test_the_file_has_what_the_list_shows(operator: Client) -> None:
    merchant = MerchantFactory()
    audit_log.record(Action.CHANGED, merchant, fields=["title"], reason="They asked for it.")
    audit_log.record(Action.ROLLED, merchant)
    link_now()
    [row] = exported(operator, action="changed", q=str(merchant.pk))
    entry = AuditEntry.objects.get(action="changed", object_id=str(merchant.pk))
    assert (row["number"], row["reason"], row["fields"]) == (str(entry.number), "They asked for it.", "title")
    assert row["hash"] == bytes(entry.hash).hex()


def test_a_reason_is_no_formula(operator: Client) -> None:
    audit_log.record(Action.CHANGED, MerchantFactory(), reason="=HYPERLINK(0)")
    assert exported(operator, action="changed")[-1]["reason"] == "'=HYPERLINK(0)"


def test_an_export_is_recorded(operator: Client) -> None:
    exported(operator, action="changed")
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.actor, entry.detail) == ("exported", "operator", "audit log, action=changed")


def test_a_wrong_filter_finds_no_file(operator: Client) -> None:
    assert operator.get(EXPORT, {"created_at__gte": "soon"}).status_code in (400, 404)


def test_who_may_not_see_the_log_gets_no_file(db: None) -> None:
    client = Client()
    client.force_login(User.objects.create(username="somebody", is_staff=True))
    assert client.get(EXPORT).status_code == 403


def test_the_list_leads_to_its_file(operator: Client) -> None:
    assert f'href="{EXPORT}?action=changed"' in text_of(operator.get(list_of(AuditEntry), {"action": "changed"}))
