"""What was legal when it was stored is shown, found and kept by forms, after the list that had it has shrunk."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.db.models.expressions import RawSQL
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants import api_keys, terms
from payments.domain.merchants.api_keys import KeyInactive
from payments.domain.merchants.merchants import NewMerchant
from payments.ledger.fees import Rate
from payments.models import (
    ApiKey,
    ApprovalLimit,
    ApprovalRequest,
    AssistantCall,
    Attempt,
    BinRange,
    Card,
    Charge,
    Correction,
    DayTotal,
    Dispute,
    Event,
    FeeTemplate,
    MoneyCheck,
    NotificationChoice,
    OperatorAction,
    Payout,
    ProviderAccount,
    ReconciliationItem,
    ReconciliationRun,
    ReportLine,
    ReportUpload,
    Route,
    Source,
)
from payments.overview.day_totals import sum_up_due
from payments.providers.simulator.models import SimulatedPayment
from tests.admin.actions import act, address_of
from tests.admin.conftest import text_of, the_operator
from tests.admin.test_pages import list_of, list_with, newest, page_of
from tests.client import Api, made
from tests.factories import ApiKeyFactory, ChargeFactory
from tests.payouts.stories import give_schedule
from tests.routing.doubles import Psp, account_at, installed, route_to

pytestmark = [pytest.mark.long, pytest.mark.django_db]
# A name that no list has; and a currency that ISO 4217 withdrew.
GONE, WITHDRAWN = "gone", "HRK"
# The columns whose values come from a list that is not the database's.
CODES: dict[type[Model], tuple[str, ...]] = {
    Source: ("type",),
    SimulatedPayment: ("source_type", "decline_code", "story", "refunds"),
    DayTotal: ("source_type", "provider", "reason"),
    Route: ("source_type",),
    Attempt: ("provider", "outcome"),
    ProviderAccount: ("provider",),
    ReportLine: ("provider", "word"),
    ReconciliationItem: ("provider",),
    ReconciliationRun: ("provider",),
    ReportUpload: ("provider",),
    Card: ("brand", "funding", "country", "cvc_checked"),
    BinRange: ("brand", "funding", "country"),
    Dispute: ("reason", "network_code"),
    Event: ("type",),
    Payout: ("why",),
}
KEPT = {"basis_points": 100, "fixed": 0}
__all__ = ["newest"]


def forget(model: type[Model], *columns: str, **rows: Any) -> None:
    """Give `rows` of `model` values that no list has, as if the database had been of another version then."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = %s::regclass AND coninhcount = 0",
            [table],
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        cursor.execute("SET LOCAL session_replication_role = replica")
        model._default_manager.filter(**rows).update(**dict.fromkeys(columns, GONE))
        cursor.execute("SET LOCAL session_replication_role = origin")


def test_every_page_opens(newest: dict[type[Model], Model], operator: Client, shop: NewMerchant, api: Api) -> None:
    api.wallet()
    made(api.post("/charges/", {"amount": 500, "source": api.wallet(), "description": "Halo-halo"}))
    sum_up_due(limit=100)
    for model, columns in CODES.items():
        forget(model, *columns)
    key_rights = {"kind": "restricted", "rights": ["charges:read"]}
    ApiKey.objects.filter(pk=ApiKeyFactory(merchant=shop.merchant, **key_rights).pk).update(rights=[GONE])
    ApprovalRequest.objects.filter(kind="issue_key").update(
        after=RawSQL("after || %s::jsonb", ['{"kind": "restricted", "rights": ["gone"]}'])
    )
    MoneyCheck.objects.update(
        finished_at=clock.now(),
        failures=[{"name": GONE, "model": "payments.Gone", "ids": ["gone_" + "0" * 32], "count": 1, "sentence": GONE}],
    )
    NotificationChoice.objects.create(operator=the_operator(), mode="each", sorts=[GONE])
    shop.merchant.rates[GONE] = {WITHDRAWN: KEPT}
    shop.merchant.save()
    rows: list[Model] = [*newest.values(), Charge.objects.latest("pk"), MoneyCheck.objects.latest("pk")]
    shown_apart = [kind for model in (OperatorAction, Correction, AssistantCall) for kind in model.KINDS]
    rows += ApprovalRequest.objects.exclude(kind__in=shown_apart)
    names = ("index", "inbox", "on_call", "preferences", "notifications")
    addresses = [f"{reverse('admin:index')}?mode=test", *(reverse(f"admin:{name}") for name in names)]
    addresses += [address for row in rows for address in (list_with(row), page_of(row))]
    addresses += [address_of(ApprovalRequest.objects.filter(kind="issue_key").latest("pk"), "decide")]
    operator.raise_request_exception = False
    assert {address: status for address in addresses if (status := operator.get(address).status_code) != 200} == {}


def test_the_account_of_a_merchant_is_shown(shop: NewMerchant) -> None:
    with installed(Psp("north")) as north:
        route_to(account_at(north, shop.merchant))
    key = ApiKeyFactory(merchant=shop.merchant, livemode=True)
    assert made(Api(key.text).get("/me"))["payment_method_settings"]["card"]["gateway"] is None


def test_a_payer_sees_the_page_of_a_payment_of_a_type_that_is_gone(api: Api, client: Client) -> None:
    charge = made(api.post("/charges/", {"amount": 500, "source": api.wallet(), "description": "Halo-halo"}))
    forget(Source, "type")
    forget(SimulatedPayment, "source_type")
    assert "Halo-halo" in text_of(client.get(charge["action"]["url"]))
    assert made(api.get(f"/charges/{charge['id']}"))["source"]["type"] == GONE


def test_the_table_of_fees_keeps_rows_that_it_does_not_offer_any_more(operator: Client, shop: NewMerchant) -> None:
    shop.merchant.rates = {GONE: {"PHP": KEPT}, "card": {WITHDRAWN: KEPT}}
    shop.merchant.save()
    text = text_of(operator.get(address_of(shop.merchant, "set_fees")))
    assert f'<option value="{GONE}" selected>' in text
    assert f'<option value="{WITHDRAWN}" selected>' in text
    rows = {"type": [GONE, "card", "card"], "currency": ["PHP", WITHDRAWN, "PHP"], "percent": ["1", "1", "2"]}
    fields = {f"fees_{name}": values for name, values in rows.items()} | {"fees_fixed": ["0", "0", "0"]}
    act(operator, shop.merchant, "set_fees", **fields)
    shop.merchant.refresh_from_db()
    assert shop.merchant.rates[GONE] == {"PHP": KEPT}
    assert shop.merchant.rates["card"] == {WITHDRAWN: KEPT, "PHP": {"basis_points": 200, "fixed": 0}}


def test_a_fee_that_is_not_offered_any_more_is_removed_and_set_by_nobody(shop: NewMerchant) -> None:
    shop.merchant.rates = {GONE: {WITHDRAWN: KEPT}}
    shop.merchant.save()
    for pair in ((GONE, "PHP"), ("card", WITHDRAWN)):
        with pytest.raises(terms.BadTerms):
            terms.set_fees(shop.merchant, {pair: Rate(100, 0)})
    terms.remove_fee(shop.merchant, GONE, WITHDRAWN)
    shop.merchant.refresh_from_db()
    assert shop.merchant.rates == {}


def test_a_template_with_a_fee_that_is_gone_is_saved_as_it_was(operator: Client) -> None:
    template = FeeTemplate.objects.create(title="Standard", rates={GONE: {"PHP": KEPT}})
    rows = {"fees_type": GONE, "fees_currency": "PHP", "fees_percent": "1", "fees_fixed": "0"}
    assert operator.post(page_of(template), {"title": "Better", **rows}).status_code == 302
    template.refresh_from_db()
    assert (template.title, template.rates) == ("Better", {GONE: {"PHP": KEPT}})
    changed = operator.post(page_of(template), {"title": "Better", **rows, "fees_percent": "2"})
    assert "has no fee" in text_of(changed)


def test_the_form_of_a_route_keeps_its_currency_and_type(operator: Client, shop: NewMerchant) -> None:
    with installed(Psp("north")) as north:
        route = route_to(account_at(north, shop.merchant), currency=WITHDRAWN)
        forget(Route, "source_type")
        text = text_of(operator.get(address_of(route, "change_route")))
    assert f'<option value="{WITHDRAWN}" selected>' in text
    assert f'<option value="{GONE}" selected>' in text


def test_the_form_of_a_bin_range_keeps_its_brand(operator: Client) -> None:
    row = BinRange.objects.create(prefix="411111", brand=GONE, funding=GONE, issuing_bank="Bank of Baguio")
    fields = {"brand": GONE, "funding": GONE, "country": "PH", "issuing_bank": "Bank of Cebu"}
    assert f'<option value="{GONE}" selected>' in text_of(operator.get(f"{page_of(row)}?edit=1"))
    assert operator.post(page_of(row), fields).status_code == 302
    row.refresh_from_db()
    assert (row.brand, row.issuing_bank) == (GONE, "Bank of Cebu")


def test_the_limit_of_a_currency_that_is_withdrawn_is_changed(operator: Client) -> None:
    limit = ApprovalLimit.objects.latest("pk")
    ApprovalLimit.objects.filter(pk=limit.pk).update(currency=WITHDRAWN)
    assert operator.post(page_of(limit), {"amount": "12.50"}).status_code == 302
    limit.refresh_from_db()
    assert limit.amount == 1250


def test_a_schedule_s_form_keeps_a_way_out_that_is_switched_off(operator: Client, shop: NewMerchant) -> None:
    with installed(Psp("north")) as north:
        account = account_at(north, shop.merchant)
    ProviderAccount.objects.update(enabled=False)
    schedule = give_schedule(shop.merchant)
    type(schedule).objects.update(livemode=True, provider_account=account)
    text = text_of(operator.get(address_of(schedule, "change_schedule")))
    assert f'<option value="{account.pk}" selected>' in text


@pytest.mark.parametrize("query", [f"type={GONE}", f"least=1&currency={WITHDRAWN}"])
def test_a_saved_view_finds_what_it_found(query: str, operator: Client) -> None:
    old, _ = ChargeFactory(currency=WITHDRAWN), ChargeFactory()
    forget(Source, "type", pk=old.source_id)
    answer: Any = operator.get(f"{list_of(Charge)}?mode=test&{query}")
    assert [row.pk for row in answer.context_data["cl"].result_list] == [old.pk]


def test_a_filter_by_a_state_that_is_gone_finds_nothing(operator: Client) -> None:
    ChargeFactory()
    found: Any = operator.get(f"{list_of(Charge)}?mode=test&money={GONE}")
    assert list(found.context_data["cl"].result_list) == []


def test_a_time_zone_that_is_gone_is_that_of_the_installation(operator: Client) -> None:
    session = operator.session
    session["time_zone"] = "Asia/Rangoon_Old"
    session.save()
    text_of(operator.get(reverse("admin:index")))


def test_a_key_is_rolled_without_the_rights_that_are_gone() -> None:
    key = ApiKeyFactory(kind="restricted", rights=["charges:read"])
    key.rights = ["charges:read", GONE]
    assert api_keys.roll_key(key, timedelta())[0].rights == ["charges:read"]


def test_a_key_whose_rights_are_all_gone_is_not_rolled() -> None:
    key = ApiKeyFactory(kind="restricted", rights=["charges:read"])
    key.rights = [GONE]
    with pytest.raises(KeyInactive, match="create a new one"):
        api_keys.roll_key(key, timedelta())
