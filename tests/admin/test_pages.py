from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from payments import clock
from payments.admin.lists.mode import mode_of_row
from payments.admin.shown_times import moment_text
from payments.domain.operators.cases import work_on
from payments.domain.payouts.schedules import number_of
from payments.domain.reconciliation import uploads
from payments.domain.reconciliation.layouts import MAPPINGS
from payments.domain.routing.provider_accounts import open_account
from payments.models import (
    ApprovalRequest,
    Attempt,
    Card,
    Charge,
    DeclineAlert,
    FeeTemplate,
    LedgerDay,
    MoneyCheck,
    PayoutAccount,
    ProviderAccount,
    WebhookSecret,
)
from payments.providers.simulator.models import Message, SimulatedPayout
from payments.staff.roles import ROLES
from tests.admin.conftest import House, text_of, the_operator
from tests.admin.crawl import ELSEWHERE, found_from, openable
from tests.admin.forms import addresses
from tests.approvals.factories import requested_account, requested_key
from tests.checkout.cast import opened
from tests.checkout.shelf import linked
from tests.client import CARD_FIELDS, REFUNDS_WAIT, Api, signed_in
from tests.contract.calls import newest_request
from tests.disputes.stories import make_dispute
from tests.factories import ApiKeyFactory, schedule_files
from tests.ledger.books import settle
from tests.mcp.assistant import ask_for_a_link
from tests.messages.letters import put_into_outbox
from tests.operators.corrections import proposed
from tests.operators.factories import person
from tests.operators.factories import proposed as act_proposed
from tests.payouts.live import live_account, put_into_file, ready
from tests.payouts.stories import give_schedule, make_payout
from tests.provider_events.factories import make_provider_message
from tests.reconciliation.bank.stories import own_account
from tests.reconciliation.factories import a_difference
from tests.reconciliation.layouts.stories import layout_in_force
from tests.risk.factories import block_email
from tests.routing.doubles import route_to
from tests.webhooks.endpoints import add_endpoint

pytestmark = pytest.mark.long

OURS = [model for name in ("payments", "simulator", "customers") for model in apps.get_app_config(name).get_models()]
SHOWN = [model for model in OURS if model in admin.site._registry]
# Shown on the page of an operator.
OF_PEOPLE = {"MerchantAccess"}
PROVIDER_CREDENTIALS = {"secret_key": "xnd_development_0123456789", "callback_token": "token-of-the-callbacks"}
REQUESTED_CREDENTIALS = {name: f"{value}-that-waits" for name, value in PROVIDER_CREDENTIALS.items()}
# Session and its renewal, user and their limit, count (or what is on the page) and rows, the merchants to choose from,
# the two alerts, saved views and columns, and sums: how far they read, their transaction and its time-out.
# Settlements have totals of their own.
MOST_STATEMENTS_OF_A_LIST = 18


def list_of(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def list_with(row: Model) -> str:
    """Return the address of the list that shows `row`: where it has modes, that of its own."""
    page: Any = admin.site.get_model_admin(type(row))
    lookup = getattr(page, "mode_lookup", lambda: None)()
    mode = mode_of_row(row, lookup) if lookup else None
    return f"{list_of(type(row))}?mode={mode}" if mode else list_of(type(row))


def page_of(row: Model) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


@pytest.fixture
def newest(house: House, api: Api) -> dict[type[Model], Model]:
    """Return the newest row of each model."""
    # Its request is not the newest.
    layout_in_force()
    Message.objects.create(body='{"reference": "0190"}')
    settle()
    Attempt.objects.filter(kind="refund").update(state="unknown")
    proposed(Attempt.objects.get(kind="refund"))
    a_difference()
    MoneyCheck.objects.create(whole=True, invariants=["refunds_add_up"])
    _too_many_declines(house)
    block_email("juan@example.com")
    make_dispute(Charge.objects.get(), amount=1)
    give_schedule(house.shop.merchant)
    make_payout(house.shop.merchant)
    SimulatedPayout.objects.create(reference="r", amount=1, currency="PHP", last4="6789", state="paid")
    put_into_file(ready(live_account(house.shop.merchant)))
    act_proposed()
    ask_for_a_link(house.shop.merchant)
    make_provider_message(house.shop.merchant)
    route_to(open_account(house.shop.merchant, True, "xendit", "Our Xendit", PROVIDER_CREDENTIALS, {}))
    requested_account(house.shop.merchant, REQUESTED_CREDENTIALS, provider="xendit")
    requested_key(house.shop.merchant)
    work_on(Charge.objects.get(), the_operator(), "The payer called.", the_operator(), ["payer-called"])
    uploads.submit(
        "simulator", "report.csv", ",".join(MAPPINGS["simulator"].names).encode(), the_operator(), None, None
    )
    own_account()
    FeeTemplate.objects.create(title="Standard", rates={"card": {"PHP": {"basis_points": 350, "fixed": 1500}}})
    put_into_outbox(Charge.objects.get())
    opened(api)
    linked(api)
    LedgerDay.objects.create(day=clock.now().date() - timedelta(days=1))
    add_endpoint(house.shop.merchant)
    newest_request(api)
    schedule_files(the_operator())
    return {model: model._default_manager.latest("pk") for model in SHOWN}


def _too_many_declines(house: House) -> None:
    window = {"window_starts_at": clock.now(), "window_ends_at": clock.now() + timedelta(hours=1)}
    charge = Charge.objects.get()
    own = {"merchant": house.shop.merchant, "livemode": False, "charge": charge, "source": charge.source}
    DeclineAlert.objects.create(kind="merchant", quota=200, **own, **window)


def test_every_model_has_its_pages() -> None:
    unseen = {model.__name__ for model in OURS if model not in SHOWN}
    assert unseen - OF_PEOPLE <= {
        "CustomerSource",
        # Its names, types and sizes are on the page of its dispute; nobody sees more.
        "Evidence",
        "BrandPicture",
        # A count for its limit of a day.
        "EvidenceSent",
        "WebhookAttempt",
        "AuditHead",
        "CvcKey",
        "AccountDay",
        # On the page of its account, and of its line.
        "BankStatement",
        "BankLine",
        # On the page of its payout.
        "PayoutPart",
        # On the page of its checkout.
        "PaymentRequest",
        "DayTotal",
        "SettlementTotal",
        "SummedDay",
        "SavedView",
        # On the page of its schedule.
        "SentFile",
        "PageVisit",
        "Note",
        # Operators choose on a page of their own, and get them by e-mail.
        "Notification",
        "NotificationChoice",
        "RunningBalance",
        # The page On call shows workers and their sweeps.
        "Sweep",
        "WorkerProcess",
        # The search on every page reads them.
        "SearchEntry",
        "SearchProgress",
        # The transparency log, which is read at /transparency.
        "LogLeaf",
        "LogNode",
        "LogHead",
        "LogProgress",
        "ProviderEvent",
    }, "which belong to something that has a page, or live an hour, or are summed up on the first page"


def test_an_operator_finds_every_row_in_its_list_and_on_its_page_and_nothing_secret_there(
    newest: dict[type[Model], Model], house: House, operator: Client
) -> None:
    secrets = secrets_of(house)
    for model, row in newest.items():
        rows, page = text_of(operator.get(list_with(row))), text_of(operator.get(page_of(row)))
        assert page_of(row) in rows, model
        assert f"{admin.site.get_model_admin(model).words[1].lower()}</a>" in page.lower(), model
        assert [secret for secret in secrets if secret in rows + page] == [], model


def secrets_of(house: House) -> list[str]:
    """Everything that no page may show, raw bytes as hex and as Python writes them."""
    card = Card.objects.get(source__charges__isnull=False)
    raw = [bytes(key.digest) for key in house.shop.merchant.keys.all()]
    raw += [bytes(secret.sealed) for secret in WebhookSecret.objects.all()]
    raw += [bytes(account.sealed_credentials) for account in ProviderAccount.objects.filter(provider="xendit")]
    raw += [bytes(row.sealed_credentials) for row in ApprovalRequest.objects.filter(kind="add_account")]
    raw += [bytes(account.sealed_number) for account in PayoutAccount.objects.all()]
    raw += [bytes(value) for value in (card.fingerprint, card.sealed_number, card.sealed_cvc) if value]
    secret_keys = [text for name, text in house.shop.keys.items() if name.startswith("sk")]
    plain = [REFUNDS_WAIT, *secret_keys, *house.shop.webhook_secrets.values(), *PROVIDER_CREDENTIALS.values()]
    plain += [*REQUESTED_CREDENTIALS.values(), *map(number_of, PayoutAccount.objects.all())]
    return [*plain, *(value.hex() for value in raw), *(repr(value)[2:-1] for value in raw)]


def test_the_page_of_an_unused_card_shows_nothing_of_what_is_sealed(api: Api, operator: Client) -> None:
    api.source(REFUNDS_WAIT)
    card = Card.objects.get()
    text = text_of(operator.get(page_of(card)))
    assert bytes(card.sealed_cvc or b"").hex() not in text
    assert f">{CARD_FIELDS['cvc']}<" not in text
    assert REFUNDS_WAIT not in text


def test_a_list_costs_the_same_however_many_rows_it_has(
    newest: dict[type[Model], Model], api: Api, operator: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    api.charge()
    api.charge()
    # The first page of a session finds its mode.
    text_of(operator.get(reverse("admin:index")))
    for model in newest:
        with django_assert_max_num_queries(MOST_STATEMENTS_OF_A_LIST, info=model.__name__):
            text_of(operator.get(list_of(model)))


def test_a_key_is_shown_with_its_limits_and_last_use_and_never_whole(operator: Client) -> None:
    moment = datetime(2026, 11, 21, 1, 43, tzinfo=UTC)
    limits = {"rights": ["charges:read", "refunds:write"], "networks": ["10.0.0.0/8"]}
    key = ApiKeyFactory(kind="restricted", last_used_at=moment, **limits)
    page, merchants = text_of(operator.get(page_of(key))), text_of(operator.get(page_of(key.merchant)))
    for shown in ("Restricted", *limits["rights"], *limits["networks"], moment_text(moment)):
        assert shown in page, shown
        assert shown in merchants, shown
    digest = bytes(key.digest)
    secrets = (key.text, key.text[8:], digest.hex(), repr(digest)[2:-1])
    assert [secret for secret in secrets if secret in page + merchants] == []


URLCONF = "config.urls"


@pytest.mark.parametrize("role", ROLES)
def test_every_page_that_a_role_may_open_is_found_by_links(role: str, newest: Mapping[type[Model], Model]) -> None:
    client = signed_in(person("ana", role))
    keys = {f"/{row.pk}/" for row in newest.values()}
    named = [address for address in addresses(newest) if "?" not in address]
    actions = {one for one in named if not one.endswith("/change/") and any(key in one for key in keys)}
    may_open = openable(client, set(named) - actions, URLCONF)
    assert len(may_open) > 15
    assert may_open - found_from(client, "/admin/", URLCONF) - ELSEWHERE == set()
