"""Accounts at providers and routes, made and changed by operators, who see no credential again."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.approvals import decide
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.routing import provider_accounts
from payments.models import ApprovalRequest, Attempt, AuditEntry, Charge, ProviderAccount, Route
from tests.admin.actions import REASON, act, address_of, form_of
from tests.admin.conftest import text_of
from tests.admin.test_pages import list_of, page_of
from tests.factories import ChargeFactory
from tests.operators.corrections import operator as staff_member
from tests.routing.doubles import KEY, Psp, account_at, installed, route_to

pytestmark = pytest.mark.long

ADD = reverse("admin:payments_provideraccount_add") + "?provider=north"
TOKEN = "token-of-the-webhooks"


@pytest.fixture(autouse=True)
def north() -> Iterator[Psp]:
    with installed(Psp("north")) as psp:
        yield psp


@pytest.fixture
def account(north: Psp, shop: NewMerchant) -> ProviderAccount:
    return account_at(north, shop.merchant)


def filled(operator: Client, shop: NewMerchant, **fields: str) -> dict[str, str]:
    form = {"merchant": str(shop.merchant.pk), "mode": "live", "title": "Our north", "credential_key": KEY}
    return form_of(operator, ADD) | form | fields


def test_an_account_is_connected_with_what_its_connector_asks_for(operator: Client, shop: NewMerchant) -> None:
    answer = operator.post(ADD, filled(operator, shop, credential_token=TOKEN, setting_branch="Cebu"))
    assert answer["Location"] == page_of(ApprovalRequest.objects.get())
    assert not ProviderAccount.objects.exists()

    approve_newest()
    made = ProviderAccount.objects.get()
    assert (made.merchant, made.livemode, made.provider) == (shop.merchant, True, "north")
    assert (made.hints, made.settings) == ({"key": "6789", "token": "ooks"}, {"branch": "Cebu"})
    assert AuditEntry.objects.about(made).get().reason.startswith(f"{REASON} (requested by operator, approved by ben")


def test_an_account_of_test_mode_is_connected_by_one_person(operator: Client, shop: NewMerchant) -> None:
    answer = operator.post(ADD, filled(operator, shop, mode="test"))

    made = ProviderAccount.objects.get()
    assert (answer["Location"], made.livemode) == (page_of(made), False)
    assert AuditEntry.objects.about(made).get().reason == REASON


def approve_newest() -> None:
    """Ben agrees to what was requested last."""
    decide.approve(ApprovalRequest.objects.latest("pk"), staff_member("ben"), "Asked the merchant")


def test_its_page_shows_the_last_four_and_where_webhooks_go(operator: Client, account: ProviderAccount) -> None:
    text = text_of(operator.get(page_of(account)))

    assert "key: …6789" in text
    assert KEY not in text
    assert f"/providers/pac_{account.id.hex}/webhooks" in text


def test_an_empty_list_of_routes_says_where_one_is_added(operator: Client, account: ProviderAccount) -> None:
    hint = "A route is added on the page of the"
    assert hint in text_of(operator.get(list_of(Route)))
    route_to(account)
    assert hint not in text_of(operator.get(list_of(Route)))


def test_a_form_that_is_sent_again_makes_no_second_account(operator: Client, shop: NewMerchant) -> None:
    form = filled(operator, shop)
    operator.post(ADD, form)
    assert operator.post(ADD, form)["Location"] == page_of(ApprovalRequest.objects.get())

    approve_newest()
    assert operator.post(ADD, form)["Location"] == page_of(ProviderAccount.objects.get())


@pytest.mark.parametrize("fields", [{"credential_key": ""}, {"title": " "}, {"reason": ""}, {"mode": "dry"}], ids=str)
def test_what_is_missing_is_said_and_no_secret_shown_again(
    operator: Client, shop: NewMerchant, fields: dict[str, str]
) -> None:
    text = text_of(operator.post(ADD, filled(operator, shop, credential_token=TOKEN) | fields))

    assert "errorlist" in text
    assert not [secret for secret in (KEY, TOKEN) if secret in text]
    assert not ProviderAccount.objects.exists()


def test_a_title_that_is_taken_is_refused(operator: Client, shop: NewMerchant, account: ProviderAccount) -> None:
    assert "has an account with this title" in text_of(operator.post(ADD, filled(operator, shop)))


def test_the_list_offers_an_account_at_each_provider(operator: Client) -> None:
    text = text_of(operator.get(list_of(ProviderAccount)))

    assert [name for name in ("adyen", "xendit", "north") if f"?provider={name}" not in text] == []


def test_credentials_are_changed_and_those_left_empty_stay(
    operator: Client, account: ProviderAccount, north: Psp
) -> None:
    fields = {"title": "North", "enabled": "on", "credential_key": "", "credential_token": TOKEN}
    assert act(operator, account, "change_account", **fields).status_code == 302
    assert ProviderAccount.objects.get().version == 1

    approve_newest()
    changed = ProviderAccount.objects.get()
    provider_accounts.connected(changed)
    assert north.accounts[-1].credentials == {"key": KEY, "token": TOKEN}
    assert (changed.title, changed.enabled, changed.version) == ("North", True, 2)
    entry = AuditEntry.objects.about(changed).latest("id")
    assert (entry.reason[: len(REASON)], "token" in entry.fields, TOKEN in str(vars(entry))) == (REASON, True, False)


def test_a_live_account_is_switched_off_by_one_person_at_once(operator: Client, account: ProviderAccount) -> None:
    act(operator, account, "change_account", title=account.title)

    assert not ProviderAccount.objects.get().enabled
    assert not ApprovalRequest.objects.exists()


def test_it_is_switched_on_again_by_two(operator: Client, account: ProviderAccount) -> None:
    act(operator, account, "change_account", title=account.title)
    act(operator, account, "change_account", title=account.title, enabled="on")
    assert not ProviderAccount.objects.get().enabled

    approve_newest()
    assert ProviderAccount.objects.get().enabled


def test_a_setting_that_cannot_be_is_refused_at_its_field(operator: Client, shop: NewMerchant) -> None:
    address = ADD.replace("north", "adyen")
    fields = {"credential_api_key": KEY, "credential_hmac_key": "5A" * 32, "setting_merchant_account": "KahaPH"}
    form = form_of(operator, address) | {"merchant": str(shop.merchant.pk), "mode": "live", "title": "Ours"} | fields
    text = text_of(operator.post(address, form | {"setting_live_prefix": "evil.example/?"}))

    field = text[text.index('<ul class="errorlist"') : text.index('id="id_setting_live_prefix"')]
    assert "It must be the prefix alone" in field
    assert not ApprovalRequest.objects.exists()


def test_a_changed_setting_asks_for_the_credentials_at_their_fields(operator: Client, account: ProviderAccount) -> None:
    fields = {"title": account.title, "enabled": "on", "setting_branch": "Davao"}
    text = text_of(act(operator, account, "change_account", **fields))

    field = text[text.index('<ul class="errorlist"') : text.index('id="id_credential_key"')]
    assert "Type it again" in field
    assert not ApprovalRequest.objects.exists()


def test_the_form_of_a_change_shows_no_secret(operator: Client, account: ProviderAccount) -> None:
    text = text_of(operator.get(address_of(account, "change_account")))

    assert "Empty: …6789 stays." in text
    assert KEY not in text


@pytest.mark.parametrize(("key", "announced"), [(KEY, "accepts these"), ("wrong-secret-key", "refuses these")])
def test_the_credentials_are_tested(operator: Client, account: ProviderAccount, key: str, announced: str) -> None:
    provider_accounts.change_account(account, "North", True, {"key": key}, {})
    act(operator, account, "test_credentials")

    assert f"The provider {announced} credentials" in text_of(operator.get(page_of(account)))
    entry = AuditEntry.objects.about(account).latest("id")
    assert (entry.action, entry.reason) == ("tested", REASON)


ROUTE = {"source_type": "card", "currency": "PHP", "position": "2", "hold": "on", "refund": "on", "enabled": "on"}


def test_a_route_is_added_with_amounts_as_people_write_them(operator: Client, account: ProviderAccount) -> None:
    act(operator, account, "add_route", **ROUTE, amount_min="20.00", amount_max="700,000.00")
    assert not Route.objects.exists()

    approve_newest()
    route = Route.objects.get()
    assert (route.account, route.source_type, route.currency, route.position) == (account, "card", "PHP", 2)
    assert (route.amount_min, route.amount_max) == (2_000, 70_000_000)
    assert (route.hold, route.refund, route.partial_refund, route.enabled) == (True, True, False, True)
    assert AuditEntry.objects.about(route).get().reason.startswith(REASON)


@pytest.mark.parametrize(
    ("fields", "announced"),
    [
        ({"amount_min": "20.00", "currency": ""}, "Amounts are of a currency"),
        ({"amount_min": "20.001"}, "not an amount"),
        ({"amount_min": "30.00", "amount_max": "20.00"}, "not above the largest"),
        ({"amount_min": "0.00"}, "1 or more"),
        ({"refund": "", "partial_refund": "on"}, "cannot be refunded in part"),
        ({"position": "0"}, "greater than or equal to 1"),
    ],
    ids=str,
)
def test_a_route_that_cannot_be_is_refused_and_said(
    operator: Client, account: ProviderAccount, fields: dict[str, str], announced: str
) -> None:
    form = {name: value for name, value in (ROUTE | fields).items() if value}
    assert announced in text_of(act(operator, account, "add_route", **form))
    assert not Route.objects.exists()


def test_a_type_that_the_connector_does_not_take_has_no_route(operator: Client, shop: NewMerchant) -> None:
    credentials = {"secret_key": KEY, "callback_token": TOKEN}
    account = provider_accounts.open_account(shop.merchant, True, "xendit", "Xendit", credentials, {})

    assert "does not take Alipay" in text_of(act(operator, account, "add_route", **ROUTE | {"source_type": "alipay"}))


def test_an_account_of_test_mode_has_no_route(operator: Client, north: Psp, shop: NewMerchant) -> None:
    account = account_at(north, shop.merchant, livemode=False)

    assert "Add a route" not in text_of(operator.get(page_of(account)))
    assert "test mode has the simulator" in text_of(act(operator, account, "add_route", **ROUTE))


def test_a_route_is_changed(operator: Client, account: ProviderAccount) -> None:
    route = route_to(account, currency="PHP", amount_min=2_000)
    assert 'value="20.00"' in text_of(operator.get(address_of(route, "change_route")))
    act(operator, route, "change_route", **ROUTE | {"position": "7", "enabled": ""})
    assert Route.objects.get().position == 1

    approve_newest()
    changed = Route.objects.get()
    assert (changed.position, changed.amount_min, changed.updated_at > route.updated_at) == (7, None, True)
    entry = AuditEntry.objects.about(route).latest("id")
    assert (entry.action, "position" in entry.fields) == ("changed", True)


def test_a_route_shows_its_order_its_health_and_its_rest(
    operator: Client, account: ProviderAccount, north: Psp, shop: NewMerchant
) -> None:
    second, first = route_to(account, position=2), route_to(account_at(north, shop.merchant, title="First"), position=1)
    with clock.at(clock.now()):
        for out in (True, False):
            _asked(first, out)
        for _ in range(5):
            _asked(second, out=True)
        text = text_of(operator.get(page_of(second)))

    assert text.index("1. First") < text.index("2. Our north")
    assert "50% of 2 answered" in text
    assert "circuit open for 30 s" in text


def test_an_attempt_shows_its_route_and_why_that_was_taken(operator: Client, account: ProviderAccount) -> None:
    attempt = _asked(route := route_to(account), out=True)
    Attempt.objects.filter(id=attempt.id).update(chosen="after south, which could not be reached")

    text = text_of(operator.get(page_of(attempt)))
    assert "after south, which could not be reached" in text
    assert page_of(route) in text
    assert page_of(account) in text


def _asked(route: Route, out: bool) -> Attempt:
    charge: Charge = ChargeFactory(is_failed=True, merchant=route.account.merchant, livemode=True)
    moment = clock.now() - timedelta(milliseconds=1)
    values = {"account": route.account, "route": route, "outage_at": moment if out else None}
    Attempt.objects.filter(charge=charge).update(**values)
    return Attempt.objects.get(charge=charge)
