"""A list as a file: the rows that the operator sees, each once, streamed."""

import csv
import io
from collections.abc import Iterator
from uuid import UUID

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import OperationalError
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.admin.framework import index_scan
from payments.admin.lists import file, page
from payments.domain.bulkheads import Bulkheads, bulkheads, use
from payments.ids import public_id
from payments.models import ApiRequest, AuditEntry, Charge, MerchantAccess, Refund
from payments.search.sweep import rebuild
from tests.admin.conftest import House, text_of
from tests.admin.test_pages import list_of, list_with, newest, secrets_of  # noqa: F401
from tests.concurrency import locked
from tests.contract.lists.many_charges import sell
from tests.factories import ChargeFactory, MerchantFactory
from tests.staff.all_merchants import for_all

pytestmark = pytest.mark.long

CHARGES = reverse("admin:payments_charge_csv")


def member(name: str = "ana") -> tuple[User, Client]:
    """One of the staff who may look at charges and export them."""
    user, client = User.objects.create(username=name, is_staff=True), Client()
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_charge", "export_list"]))
    client.force_login(for_all(user))
    return user, client


def lines_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def exported(
    client: Client, query: str = "", address: str = CHARGES, asked: dict[str, object] | None = None
) -> list[dict[str, str]]:
    response = client.post(f"{address}?{query}", asked)
    assert response.status_code == 200
    return lines_of(response.getvalue().decode("utf-8-sig"))


def newest_first() -> list[str]:
    return [public_id("ch", pk) for pk in Charge.objects.order_by("-pk").values_list("pk", flat=True)]


def test_a_line_has_amounts_as_integers_and_as_decimals_and_no_more_of_a_card_than_its_last_digits(
    operator: Client,
) -> None:
    charge = ChargeFactory(is_part_refunded=True, amount=123_450)
    [line] = exported(operator)
    assert (line["amount"], line["amount_decimal"], line["currency"]) == ("123450", "1234.50", "PHP")
    assert (line["amount_refunded"], line["amount_refunded_decimal"]) == ("30862", "308.62")
    assert (line["id"], line["card_last4"], line["mode"]) == (public_id("ch", charge.pk), "3055", "test")
    assert line["created_at"] == clock.iso(charge.created_at)


def test_a_text_is_no_formula_where_the_file_is_opened_with_semicolons_between_cells(operator: Client) -> None:
    ChargeFactory(description=";=1+1")
    content = operator.post(CHARGES).getvalue().decode("utf-8-sig")
    found = [cell for row in csv.reader(io.StringIO(content), delimiter=";") for cell in row]
    assert [cell for cell in found if cell.startswith("=")] == []


def test_the_file_has_the_rows_of_the_list(operator: Client) -> None:
    held = ChargeFactory(is_held=True, description="Two mangoes")
    ChargeFactory(is_held=True)
    ChargeFactory(is_captured=True, description="A mango")
    rebuild()
    assert [line["id"] for line in exported(operator, "money=held&q=mang")] == [public_id("ch", held.pk)]


def test_chosen_rows_are_a_file_of_their_own_within_a_bound(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "ROWS_AT_ONCE", 2)
    chosen = [ChargeFactory(is_held=True).pk for _ in range(4)][1:]
    asked = {"action": "export", "_selected_action": chosen}
    ids = [public_id("ch", pk) for pk in reversed(chosen)]
    assert [line["id"] for line in exported(operator, "", list_of(Charge), asked)] == ids
    monkeypatch.setattr(page, "MOST_CHOSEN", 2)
    assert "Choose at most 2." in text_of(operator.post(list_of(Charge), asked, follow=True))


def test_the_audit_log_has_which_rows_were_chosen(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"action": "export", "_selected_action": [ChargeFactory(is_captured=True).pk for _ in range(3)]}
    first, second, last = newest_first()
    exported(operator, "money=captured", list_of(Charge), chosen)
    monkeypatch.setattr(page, "MOST_NAMED", 2)
    exported(operator, "money=captured", list_of(Charge), chosen)
    exported(operator, "money=captured", list_of(Charge), chosen | {"select_across": "1"})
    assert [*AuditEntry.objects.filter(action="exported").order_by("pk").values_list("detail", flat=True)] == [
        f"list of charges, test, 3 chosen: {first}, {second}, {last}",
        f"list of charges, test, 3 chosen: {first} to {last}",
        "list of charges, test, money=captured",
    ]
    assert "test, 3 chosen: …</" in text_of(operator.get(list_of(AuditEntry)))


def test_chosen_rows_are_a_file_for_those_alone_who_may_export(db: None) -> None:
    user, client = member()
    user.user_permissions.add(Permission.objects.get(codename="refund_charge"))
    asked = {"action": "export", "_selected_action": [ChargeFactory().pk]}
    kinds = [client.post(list_of(Charge), asked)["Content-Type"]]
    user.user_permissions.remove(Permission.objects.get(codename="export_list"))
    kinds.append(client.post(list_of(Charge), asked, follow=True)["Content-Type"])
    assert [kind.partition(";")[0] for kind in kinds] == ["text/csv", "text/html"]


def test_the_file_has_the_rows_of_the_chosen_mode(operator: Client) -> None:
    live, test = ChargeFactory(is_held=True, livemode=True), ChargeFactory(is_held=True)
    assert [line["id"] for line in exported(operator, "mode=live")] == [public_id("ch", live.pk)]
    assert [line["id"] for line in exported(operator, "mode=test")] == [public_id("ch", test.pk)]


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+1", "-1", "\t1", "\uff1d1"])
def test_no_spreadsheet_runs_what_a_merchant_wrote(text: str, operator: Client) -> None:
    ChargeFactory(is_held=True, description=text)
    [line] = exported(operator)
    assert line["description"] == f"'{text}"


def test_every_charge_is_written_once_in_the_order_of_the_list(operator: Client) -> None:
    sell(MerchantFactory(), 2 * file.ROWS_AT_ONCE + 7)
    assert [line["id"] for line in exported(operator)] == newest_first()


def test_the_file_of_any_list_has_its_rows_and_no_secret(
    newest: dict[type[Model], Model],  # noqa: F811
    house: House,
    operator: Client,
) -> None:
    secrets = secrets_of(house)
    for model, row in newest.items():
        page = admin.site.get_model_admin(model)
        if getattr(page, "is_exported", False):
            path, _, query = list_with(row).partition("?")
            text = operator.post(f"{path}csv/?{query}").getvalue().decode("utf-8-sig")
            assert any(page_id(row) in line["id"].replace("-", "") for line in lines_of(text)), model
            assert [secret for secret in secrets if secret in text] == [], model


def page_id(row: Model) -> str:
    """Return how a file names a row: by its ID, as merchants see it or as the database has it."""
    pk = row.request_id if isinstance(row, ApiRequest) else row.pk
    return pk.hex if isinstance(pk, UUID) else str(pk).replace("-", "")


def test_a_refund_has_its_amount_and_the_whole_id_of_its_charge(house: House, operator: Client) -> None:
    refund = Refund.objects.get()
    [line] = exported(operator, address=reverse("admin:payments_refund_csv"))
    assert (line["amount"], line["amount_decimal"], line["currency"]) == ("450", "4.50", "PHP")
    assert (line["id"], line["charge"]) == (str(refund), house.charge["id"])
    assert line["created_at"] == clock.iso(refund.created_at)


def test_a_list_that_is_too_long_says_where_it_was_cut(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "MOST_ROWS", 2)
    monkeypatch.setattr(page, "ROWS_AT_ONCE", 2)
    sell(MerchantFactory(), 3)
    *rows, last = exported(operator)
    assert [line["id"] for line in rows] == newest_first()[:2]
    assert last["id"] == "Cut after 2 rows: narrow the list by its filters."


def test_a_file_is_whole_where_parts_of_a_long_list_have_no_row_of_the_filter(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_scan, "SEARCHED_ROWS", 2)
    ChargeFactory(amount=7_777_700, id=UUID(int=1))
    sell(MerchantFactory(), 9, first=2)
    [line] = exported(operator, "least=70000&currency=PHP")
    assert line["id"] == public_id("ch", UUID(int=1))


def test_a_reader_who_takes_too_long_gets_a_part_that_says_so(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "MOST_SECONDS", -1)
    ChargeFactory(is_held=True)
    [last] = exported(operator)
    assert last["id"] == "Cut after 0 rows: this download took too long. Narrow the list."


def test_who_works_for_some_merchants_gets_nothing_of_others(db: None) -> None:
    ours = ChargeFactory(is_held=True)
    ChargeFactory(is_held=True)
    user, client = member()
    user.user_permissions.remove(Permission.objects.get(codename="work_for_all_merchants"))
    assert exported(client) == []
    MerchantAccess.objects.create(user=user, merchant=ours.merchant)
    assert [line["id"] for line in exported(client)] == [public_id("ch", ours.pk)]


def test_whose_right_is_taken_while_the_file_is_read_gets_no_more(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "ROWS_AT_ONCE", 1)
    monkeypatch.setattr(file, "PIECE_BYTES", 1)
    sell(MerchantFactory(), 3)
    user, client = member()
    content = iter(client.post(CHARGES).streaming_content)
    begin = [next(content), next(content)]
    user.user_permissions.remove(Permission.objects.get(codename="export_list"))
    lines = lines_of(b"".join([*begin, *content]).decode("utf-8-sig"))
    assert [line["id"] for line in lines] == [
        newest_first()[0],
        "Cut after 1 rows: you may not see the rest of this list any more.",
    ]


def test_who_may_only_look_exports_nothing(db: None) -> None:
    user, client = member()
    user.user_permissions.remove(Permission.objects.get(codename="export_list"))
    assert client.post(CHARGES).status_code == 403
    assert "Export as CSV" not in text_of(client.get(list_of(Charge)))


def test_who_may_not_see_a_list_has_no_file_of_it(db: None) -> None:
    _, client = member()
    assert client.post(reverse("admin:payments_refund_csv")).status_code == 403


@pytest.mark.parametrize(
    ("query", "status"),
    [("type=4000000000003055", 400), ("type=4000+0000+0000+3055", 400), ("type=%00", 400), ("type=" + "x" * 1001, 403)],
    ids=["number", "spaced", "nul", "long"],
)
def test_what_no_list_is_narrowed_to_is_not_recorded(query: str, status: int, operator: Client) -> None:
    assert operator.post(f"{CHARGES}?{query}").status_code == status
    assert not AuditEntry.objects.filter(action="exported").exists()


@pytest.fixture
def _sixty_threads() -> Iterator[None]:
    before = bulkheads()
    use(Bulkheads(60))
    yield
    use(before)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_sixty_threads")
def test_downloads_hold_few_threads_and_one_operator_fewer() -> None:
    (_, ana), (_, ben), (_, cora) = member("ana"), member("ben"), member("cora")
    held = [client.post(CHARGES) for client in (ana, ana, ben)]
    for client in (ana, cora):
        response = client.post(CHARGES, follow=True)
        assert "Wait until other downloads are done" in text_of(response)
    for response in held:
        response.getvalue()
    assert len([exported(client) for client in (ana, cora)]) == 2


@pytest.mark.django_db(transaction=True)
def test_a_file_that_cannot_be_recorded_is_not_sent_and_holds_no_place(operator: Client) -> None:
    before = bulkheads().downloads.taken
    with locked("payments_auditentry"), pytest.raises(OperationalError, match="lock timeout") as refused:
        operator.post(CHARGES)
    # What was raised is kept meanwhile, with all that its frames hold.
    assert refused.value.__traceback__
    assert bulkheads().downloads.taken == before
    assert exported(operator) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_sixty_threads")
def test_a_file_of_the_audit_log_needs_a_place_too(operator: Client) -> None:
    path = reverse("admin:payments_auditentry_export")
    held = [operator.get(path) for _ in range(2)]
    assert "Wait until other downloads are done" in text_of(operator.get(path, follow=True))
    for response in held:
        response.getvalue()
    assert operator.get(path).getvalue()


def test_the_audit_log_has_who_took_the_file_and_what_was_in_it(operator: Client) -> None:
    ChargeFactory(is_held=True)
    exported(operator, "money=held")
    entry = AuditEntry.objects.get(action="exported")
    assert (entry.actor, entry.detail) == ("operator", "list of charges, test, money=held")
