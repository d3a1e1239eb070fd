"""A list as a file: the rows that the operator sees, each once, by any worker and after any crash."""

import csv
import io
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain import exports
from payments.ids import public_id
from payments.models import AuditEntry, Charge, Export, ExportPart, MerchantAccess
from tests.admin.conftest import text_of
from tests.admin.test_pages import page_of
from tests.concurrency import at_once
from tests.contract.lists.many_charges import sell
from tests.factories import ChargeFactory, MerchantFactory
from tests.staff.all_merchants import for_all

ASK = reverse("admin:payments_export_ask")


def member(name: str = "ana") -> tuple[User, Client]:
    """One of the staff who may look at charges and export them."""
    user, client = User.objects.create(username=name, is_staff=True), Client()
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_charge", "view_export", "add_export"]))
    client.force_login(for_all(user))
    return user, client


def asked(client: Client, query: str = "") -> Export:
    assert client.post(ASK, {"sheet": "charges", "query": query}).status_code == 302
    return Export.objects.latest("created_at")


def download(client: Client, export: Export) -> list[dict[str, str]]:
    """Return the lines of the file."""
    response = client.get(reverse("admin:payments_export_download", args=[export.pk]))
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(response.getvalue().decode("utf-8-sig"))))


def exported(client: Client, query: str = "") -> list[dict[str, str]]:
    export = asked(client, query)
    exports.write_due()
    return download(client, export)


def newest_first() -> list[str]:
    return [public_id("ch", pk) for pk in Charge.objects.order_by("-pk").values_list("pk", flat=True)]


def test_an_operator_who_is_limited_meanwhile_finds_no_file_that_was_made_before(db: None) -> None:
    ChargeFactory()
    user, client = member()
    exported(client)
    MerchantAccess.objects.create(operator=user, merchant=MerchantFactory())
    assert not Export.objects.exists()


def test_an_operator_who_loses_a_role_finds_no_file_that_was_made_before(db: None) -> None:
    ChargeFactory()
    user, client = member()
    group = Group.objects.create(name="sellers")
    user.groups.add(group)
    exported(client)
    user.groups.remove(group)
    assert not Export.objects.exists()


def test_a_line_has_amounts_as_integers_and_as_decimals_and_no_more_of_a_card_than_its_last_digits(
    operator: Client,
) -> None:
    charge = ChargeFactory(is_part_refunded=True, amount=123_450)
    [line] = exported(operator)
    assert (line["amount"], line["amount_decimal"], line["currency"]) == ("123450", "1234.50", "PHP")
    assert (line["amount_refunded"], line["amount_refunded_decimal"]) == ("30862", "308.62")
    assert (line["id"], line["card_last4"], line["mode"]) == (public_id("ch", charge.pk), "3055", "test")
    assert line["created_at"] == clock.iso(charge.created_at)


def test_the_file_has_the_rows_of_the_list(operator: Client) -> None:
    held = ChargeFactory(is_held=True, description="Two mangoes")
    ChargeFactory(is_held=True)
    ChargeFactory(is_captured=True, description="A mango")
    assert [line["id"] for line in exported(operator, "money=held&q=mang")] == [public_id("ch", held.pk)]


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+1", "-1", "\t=1", "\uff1d1"])
def test_no_spreadsheet_runs_what_a_merchant_wrote(text: str, operator: Client) -> None:
    ChargeFactory(is_held=True, description=text)
    [line] = exported(operator)
    assert line["description"] == f"'{text}"


def test_every_charge_is_written_once_in_the_order_of_the_list(operator: Client) -> None:
    sell(MerchantFactory(), 2 * exports.BATCH + 7)
    export = asked(operator)
    # As if the one who wrote the first part had died then.
    exports.write_part()
    exports.write_due()
    assert [line["id"] for line in download(operator, export)] == newest_first()
    assert ExportPart.objects.filter(export=export).count() == 3


@pytest.mark.django_db(transaction=True)
def test_of_two_who_write_at_once_nobody_writes_a_part_twice(operator: Client) -> None:
    sell(MerchantFactory(), 2 * exports.BATCH + 7)
    export = asked(operator)

    at_once(2, lambda _: exports.write_due())
    exports.write_due()
    assert [line["id"] for line in download(operator, export)] == newest_first()


def test_how_far_it_is_can_be_seen(operator: Client) -> None:
    sell(MerchantFactory(), exports.BATCH + 7)
    export = asked(operator)
    exports.write_part()
    page = text_of(operator.get(page_of(export)))
    assert f"{exports.BATCH:,} of about" in page
    assert 'http-equiv="refresh"' in page
    assert operator.get(reverse("admin:payments_export_download", args=[export.pk])).status_code == 404
    exports.write_due()
    page = text_of(operator.get(page_of(export)))
    assert 'http-equiv="refresh"' not in page
    assert "Download" in page


def test_nobody_sees_the_file_of_another(operator: Client) -> None:
    ChargeFactory(is_held=True)
    export = asked(operator)
    exports.write_due()
    _, other = member()
    assert other.get(reverse("admin:payments_export_download", args=[export.pk])).status_code == 404
    assert other.get(page_of(export)).status_code == 404


def test_who_works_for_some_merchants_gets_nothing_of_others(db: None) -> None:
    ours = ChargeFactory(is_held=True)
    ChargeFactory(is_held=True)
    user, client = member()
    user.user_permissions.remove(Permission.objects.get(codename="work_for_all_merchants"))
    assert exported(client) == []
    MerchantAccess.objects.create(operator=user, merchant=ours.merchant)
    assert [line["id"] for line in exported(client)] == [public_id("ch", ours.pk)]


def test_whose_role_lost_the_right_meanwhile_gets_nothing(db: None) -> None:
    ChargeFactory(is_held=True)
    user, client = member()
    role = Group.objects.create(name="sellers")
    role.permissions.set(user.user_permissions.all())
    user.user_permissions.clear()
    user.groups.add(role)
    export = asked(client)
    role.permissions.remove(Permission.objects.get(codename="view_charge"))
    exports.write_due()
    export.refresh_from_db()
    assert (export.state, export.parts) == (Export.State.REFUSED, 0)


def test_who_may_only_look_exports_nothing(db: None) -> None:
    user, client = member()
    user.user_permissions.remove(Permission.objects.get(codename="add_export"))
    assert client.post(ASK, {"sheet": "charges"}).status_code == 403


@pytest.mark.parametrize(
    "query",
    ["q=4000000000003055", "q=4000+0000+0000+3055", "q=%00", "q=" + "x" * 1001],
    ids=["number", "spaced", "nul", "long"],
)
def test_what_no_list_is_narrowed_to_is_not_kept(query: str, operator: Client) -> None:
    assert operator.post(ASK, {"sheet": "charges", "query": query}).status_code == 403
    assert not Export.objects.exists()


def test_nobody_has_many_exports_under_way(operator: Client) -> None:
    for _ in range(exports.MOST_WAITING):
        asked(operator)
    assert "Wait until your other exports are done." in text_of(operator.post(ASK, {"sheet": "charges"}, follow=True))
    assert Export.objects.count() == exports.MOST_WAITING


def test_the_audit_log_has_who_took_the_file_and_what_was_in_it(operator: Client) -> None:
    ChargeFactory(is_held=True)
    exported(operator, "money=held")
    entry = AuditEntry.objects.get(action="exported")
    assert (entry.actor, entry.detail) == ("operator", "1 rows of charges, money=held")


def test_a_file_is_gone_after_a_day(operator: Client) -> None:
    kept, old = asked(operator), asked(operator)
    exports.write_due()
    Export.objects.filter(pk=old.pk).update(expires_at=clock.now() - timedelta(seconds=1))
    exports.delete_expired()
    assert [*Export.objects.all()] == [kept]
    assert not ExportPart.objects.filter(export_id=old.pk).exists()
