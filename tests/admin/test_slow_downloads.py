"""Files that are read slowly keep no connection from others meanwhile."""

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from payments.admin.audit import audit_log as audit_pages
from payments.domain import exports
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import AuditEntry, Export, ExportPart
from tests.factories import MerchantFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_download_of_the_audit_log_holds_no_connection_while_it_is_read(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_pages, "AT_ONCE", 2)
    for _ in range(5):
        audit_log.record(Action.CHANGED, MerchantFactory())
    seen = []
    response = operator.get(reverse("admin:payments_auditentry_export"))
    for _ in response.streaming_content:
        seen.append(connection.connection)
    assert set(seen[1:]) == {None}
    # A line each, and the heads.
    assert len(seen) == AuditEntry.objects.count() + 1


def test_a_download_of_a_list_holds_no_connection_while_it_is_read(operator: Client) -> None:
    user = operator.get(reverse("admin:index")).wsgi_request.user
    export = Export.objects.create(operator=user, sheet="charges", parts=2, expected_rows=0)
    for number in range(2):
        ExportPart.objects.create(export=export, number=number, content=b"part")
    seen = [connection.connection for _ in exports.content_of(export)]
    assert seen == [None, None]
