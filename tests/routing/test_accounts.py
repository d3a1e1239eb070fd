"""Accounts at providers: what is kept of them, and that their credentials come to light nowhere."""

import pytest
from django.db import IntegrityError, InternalError, transaction

from payments.domain.maintenance import key_rotation, reseal
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.routing import provider_accounts, routes
from payments.domain.routing.provider_accounts import BadAccount
from payments.domain.routing.routes import BadRoute
from payments.models import AuditEntry, ProviderAccount, Route
from payments.providers.base import Approved, Rejected, Unknown
from tests.routing.doubles import KEY, Psp, account_at, route_to

pytestmark = pytest.mark.django_db


def test_credentials_lie_sealed_with_the_last_four_beside_them(north: Psp, shop: NewMerchant) -> None:
    account_at(north, shop.merchant)

    account = ProviderAccount.objects.get()
    assert KEY.encode() not in bytes(account.sealed_credentials)
    assert account.hints == {"key": "6789"}


def test_a_short_secret_has_no_hint(north: Psp, shop: NewMerchant) -> None:
    account = provider_accounts.open_account(shop.merchant, False, "north", "Short", {"key": "pin-1234"}, {})

    assert account.hints == {"key": ""}


def test_the_connector_is_given_what_was_filled_in(north: Psp, shop: NewMerchant) -> None:
    account = provider_accounts.open_account(shop.merchant, True, "north", "Ours", {"key": KEY}, {"branch": "Cebu"})
    provider_accounts.connected(account)

    [given] = north.accounts
    assert (given.livemode, given.credentials, given.settings) == (True, {"key": KEY}, {"branch": "Cebu"})
    assert KEY not in repr(given)


def test_an_account_is_connected_once_until_it_is_changed(north: Psp, shop: NewMerchant) -> None:
    account = account_at(north, shop.merchant)
    provider_accounts.connected(account)
    provider_accounts.connected(ProviderAccount.objects.get())
    provider_accounts.change_account(account, "Ours", True, {"key": "another-secret-key"}, {})
    provider_accounts.connected(ProviderAccount.objects.get())

    assert [given.credentials["key"] for given in north.accounts] == [KEY, "another-secret-key"]


def test_a_credential_that_is_left_empty_stays(north: Psp, shop: NewMerchant) -> None:
    account = account_at(north, shop.merchant)
    provider_accounts.change_account(account, "Ours", True, {"key": "", "token": "a-token-of-theirs"}, {})
    provider_accounts.connected(changed := ProviderAccount.objects.get())

    assert north.accounts[-1].credentials == {"key": KEY, "token": "a-token-of-theirs"}
    assert changed.hints == {"key": "6789", "token": "eirs"}


@pytest.mark.parametrize(
    ("credentials", "settings", "provider", "title"),
    [
        ({}, {}, "north", "Ours"),
        ({"key": KEY, "other": "x"}, {}, "north", "Ours"),
        ({"key": KEY}, {"other": "x"}, "north", "Ours"),
        ({"key": KEY}, {}, "nowhere", "Ours"),
        ({"key": KEY}, {}, "north", " "),
    ],
)
def test_what_the_connector_does_not_ask_for_makes_no_account(
    north: Psp, shop: NewMerchant, credentials: dict[str, str], settings: dict[str, str], provider: str, title: str
) -> None:
    with pytest.raises(BadAccount):
        provider_accounts.open_account(shop.merchant, True, provider, title, credentials, settings)

    assert not ProviderAccount.objects.exists()


def test_a_title_names_one_account_of_a_mode(north: Psp, shop: NewMerchant) -> None:
    account_at(north, shop.merchant, livemode=True)
    account_at(north, shop.merchant, livemode=False)
    with pytest.raises(BadAccount):
        account_at(north, shop.merchant, livemode=True)


def test_the_audit_log_names_credentials_and_holds_none(north: Psp, shop: NewMerchant) -> None:
    account = account_at(north, shop.merchant)
    provider_accounts.change_account(account, "Ours", True, {"key": "another-secret-key"}, {})

    assert AuditEntry.objects.get(action="changed").fields == ["title", "key"]
    assert not [entry for entry in AuditEntry.objects.values() if "secret-key" in str(entry)]


def test_the_audit_log_has_the_settings_before_and_after(north: Psp, shop: NewMerchant) -> None:
    account = provider_accounts.open_account(shop.merchant, True, "north", "Ours", {"key": KEY}, {"branch": "Cebu"})
    provider_accounts.change_account(account, "Ours", False, {"key": KEY}, {"branch": "Davao"})

    added, changed = AuditEntry.objects.about(account).order_by("id")
    assert added.detail == "at north, live mode, branch: not set → Cebu"
    assert changed.detail == "branch: Cebu → Davao, enabled: yes → no"


def test_other_settings_want_every_credential_again(north: Psp, shop: NewMerchant) -> None:
    credentials = {"key": KEY, "token": "a-token-of-theirs"}
    account = provider_accounts.open_account(shop.merchant, True, "north", "Ours", credentials, {"branch": "Cebu"})
    with pytest.raises(BadAccount) as refused:
        provider_accounts.change_account(account, "Ours", True, {"key": KEY}, {"branch": "Davao"})
    assert refused.value.field == "token"
    assert ProviderAccount.objects.get().settings == {"branch": "Cebu"}

    provider_accounts.change_account(account, "Ours", True, credentials, {"branch": "Davao"})
    assert ProviderAccount.objects.get().settings == {"branch": "Davao"}


HEX = "5A" * 32


@pytest.mark.parametrize(
    ("provider", "name", "value"),
    [
        ("adyen", "live_prefix", "evil.example/?"),
        ("adyen", "live_prefix", "-kaha"),
        ("adyen", "live_prefix", "a" * 49),
        ("adyen", "live_prefix", "kaha\n"),
        ("adyen", "merchant_account", "Kaha PH"),
        ("adyen", "merchant_account", "Kaha/../Other"),
        ("adyen", "api_key", "a key"),
        ("adyen", "api_key", "key\r\nX-Other: 1"),
        ("adyen", "hmac_key", "no digits"),
        ("xendit", "country", "ph"),
        ("xendit", "country", "PHL"),
        ("xendit", "secret_key", "xnd:production"),
        ("xendit", "callback_token", "tok\ten"),
        ("north", "branch", "Cebu\nCity"),
    ],
)
def test_each_value_is_held_against_what_it_is(
    north: Psp, shop: NewMerchant, provider: str, name: str, value: str
) -> None:
    fine = {
        "adyen": ({"api_key": KEY, "hmac_key": HEX}, {"merchant_account": "Kaha_PH", "live_prefix": "1797a84-Kaha"}),
        "xendit": ({"secret_key": KEY, "callback_token": KEY}, {"country": "PH"}),
        "north": ({"key": KEY}, {"branch": "Cebu City"}),
    }
    credentials, settings = fine[provider]
    provider_accounts.open_account(shop.merchant, True, provider, "Fine", credentials, settings)
    for given in (credentials, settings):
        if name in given:
            given[name] = value
    with pytest.raises(BadAccount) as refused:
        provider_accounts.open_account(shop.merchant, True, provider, "Ours", credentials, settings)
    assert refused.value.field == name
    assert value not in str(refused.value)


def test_the_provider_says_whether_it_knows_the_credentials(north: Psp, shop: NewMerchant) -> None:
    good = account_at(north, shop.merchant)
    bad = provider_accounts.open_account(shop.merchant, False, "north", "Wrong", {"key": "wrong-secret-key"}, {})

    assert isinstance(provider_accounts.try_credentials(good), Approved)
    assert isinstance(provider_accounts.try_credentials(bad), Rejected)
    entries = AuditEntry.objects.filter(action="tested").order_by("id")
    assert [entry.detail for entry in entries] == ["Approved", "Rejected"]


def test_a_provider_that_is_not_installed_any_more_leaves_credentials_untested(shop: NewMerchant, north: Psp) -> None:
    account = account_at(north, shop.merchant)
    account.provider = "gone"

    assert isinstance(provider_accounts.try_credentials(account), Unknown)


@pytest.mark.django_db(transaction=True)
def test_the_rotation_of_keys_reaches_credentials(north: Psp, shop: NewMerchant) -> None:
    account_at(north, shop.merchant)
    before = ProviderAccount.objects.get().sealed_credentials
    key_rotation.retire_data_keys()
    reseal.reseal_some()

    account = ProviderAccount.objects.get()
    assert bytes(account.sealed_credentials)[:17] != bytes(before)[:17]
    provider_accounts.connected(account)
    assert north.accounts[-1].credentials == {"key": KEY}


def test_no_route_leads_to_an_account_of_test_mode(north: Psp, shop: NewMerchant) -> None:
    account = account_at(north, shop.merchant, livemode=False)
    with pytest.raises(BadRoute, match="test mode has the simulator"):
        routes.add(Route(account=account, source_type="card"))
    with pytest.raises(IntegrityError), transaction.atomic():
        route_to(account)


@pytest.mark.parametrize("column", [{"livemode": False}, {"provider": "south"}])
def test_an_account_stays_where_it_is(north: Psp, shop: NewMerchant, column: dict[str, object]) -> None:
    account_at(north, shop.merchant)
    with pytest.raises((IntegrityError, InternalError)), transaction.atomic():
        ProviderAccount.objects.update(**column)
