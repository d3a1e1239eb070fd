"""Merchants that operators make, and the terms that they change: by the same verbs as the commands."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments import clock, sourcetypes
from payments.domain.merchants import terms
from payments.domain.merchants.merchants import NewMerchant, valid_webhook_secrets
from payments.domain.webhooks.test_event import UNDER_WAY
from payments.ids import new_id
from payments.models import ApprovalRequest, AuditEntry, DayTotal, FeeTemplate, Merchant, WebhookEndpoint
from tests.admin.actions import REASON, act, form_of, once
from tests.admin.conftest import text_of
from tests.admin.test_pages import page_of
from tests.client import Api, signed_in
from tests.commands.receivers import receiving, verifies
from tests.factories import MerchantFactory
from tests.operators.factories import person

ADD = reverse("admin:payments_merchant_add")
SHOWN = re.compile(r"<dt>([^<]+)</dt><dd[^>]*><code>(.+?)</code>")


def newest() -> Merchant:
    return Merchant.objects.latest("pk")


def test_a_new_merchant_is_shown_with_keys_that_work(operator: Client) -> None:
    answer = operator.post(ADD, form_of(operator, ADD) | {"title": "Tindahan Ñ"})
    shown = dict(SHOWN.findall(text_of(answer)))
    names = ["Secret key, test", "Publishable key, test", "Publishable key, live"]
    assert sorted(shown) == sorted(f"{name} mode" for name in (*names, "Webhook secret, test", "Webhook secret, live"))
    assert Api(shown["Secret key, test mode"]).get("/me").json()["title"] == "Tindahan Ñ"
    assert "no-store" in answer["Cache-Control"]
    assert AuditEntry.objects.about(newest()).get().reason == REASON


def test_a_form_that_is_sent_again_makes_no_second_merchant(operator: Client) -> None:
    form = form_of(operator, ADD) | {"title": "Tindahan"}
    text_of(operator.post(ADD, form))
    assert operator.post(ADD, form)["Location"] == page_of(newest())
    assert Merchant.objects.count() == 1


def test_no_id_is_made_of_what_a_browser_chose_or_kept_or_another_person_has(operator: Client) -> None:
    other = signed_in(person("ben", "administrator"))
    with clock.at(clock.now() - timedelta(hours=13)):
        kept = once(operator)
    for form in ({"row_id": new_id()}, {"row_id": "x:y"}, once(other), kept):
        text = text_of(operator.post(ADD, {"title": "Tindahan", "reason": REASON, **form}))
        assert "This form was opened by somebody else, or too long ago. Open it again." in text
    assert not Merchant.objects.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    "fields",
    [{"title": ""}, {"title": "東京"}, {"title": "Sari", "statement_descriptor": "A*"}],
    ids=["no title", "nothing plain", "not plain"],
)
def test_a_merchant_that_cannot_be_is_refused_and_said(fields: dict[str, str], operator: Client) -> None:
    assert "errorlist" in text_of(operator.post(ADD, form_of(operator, ADD) | fields))
    assert not Merchant.objects.exists()


def set_fees(operator: Client, merchant: Merchant, *rows: tuple[str, str, str, str]) -> Any:
    """Send the table of fees with these rows: type, currency, per cent and fixed amount."""
    names = ("fees_type", "fees_currency", "fees_percent", "fees_fixed")
    return act(operator, merchant, "set_fees", **{name: [row[n] for row in rows] for n, name in enumerate(names)})


def test_fees_are_typed_as_people_write_them_and_set_at_once(operator: Client, shop: NewMerchant) -> None:
    rows = [
        ("card", "PHP", "3.5", "1,015.00"),
        ("card", "JPY", "", "20"),
        ("gcash", "PHP", "2", ""),
        ("", "PHP", "", ""),
    ]
    assert set_fees(operator, shop.merchant, *rows).status_code == 302
    assert newest().rates == {
        "card": {"PHP": {"basis_points": 350, "fixed": 101_500}, "JPY": {"basis_points": 0, "fixed": 20}},
        "gcash": {"PHP": {"basis_points": 200, "fixed": 0}},
    }
    entry = AuditEntry.objects.latest("id")
    assert (entry.fields, entry.reason) == (["rates"], REASON)
    assert entry.detail == (
        "card in JPY: not set → 0 basis points and 20, card in PHP: not set → 350 basis points and 101500, "
        "gcash in PHP: not set → 200 basis points and 0"
    )


def test_one_row_sets_the_fee_of_every_type_that_has_none(operator: Client, shop: NewMerchant) -> None:
    set_fees(operator, shop.merchant, ("every", "PHP", "2", "5"), ("card", "PHP", "3.5", "0"))
    rates = newest().rates
    assert set(rates) == set(sourcetypes.NAMES)
    assert rates.pop("card") == {"PHP": {"basis_points": 350, "fixed": 0}}
    assert all(rate == {"PHP": {"basis_points": 200, "fixed": 500}} for rate in rates.values())


@pytest.mark.long
@pytest.mark.parametrize(
    ("percent", "fixed", "currency"),
    [
        ("100.01", "0", "PHP"),
        ("-1", "0", "PHP"),
        ("1.234", "0", "PHP"),
        ("NaN", "0", "PHP"),
        ("1", "1.5", "JPY"),
        ("1", "9999999999", "PHP"),
        ("1", "0", "XXX"),
    ],
    ids=["above the amount", "below nothing", "part of a point", "no number", "part of a yen", "too much", "currency"],
)
def test_a_fee_that_nobody_can_be_charged_is_refused_and_no_other_is_set(
    percent: str, fixed: str, currency: str, operator: Client, shop: NewMerchant
) -> None:
    answer = set_fees(operator, shop.merchant, ("gcash", "PHP", "2", "0"), ("card", currency, percent, fixed))
    assert "errorlist" in text_of(answer)
    assert newest().rates == {}


@pytest.mark.long
def test_two_fees_of_one_type_and_currency_are_refused(operator: Client, shop: NewMerchant) -> None:
    answer = set_fees(operator, shop.merchant, ("card", "PHP", "2", "0"), ("card", "PHP", "3", "0"))
    assert "There are two rows for card in PHP." in text_of(answer)


@pytest.mark.long
def test_a_fee_is_removed_by_clearing_its_row(operator: Client, shop: NewMerchant) -> None:
    set_fees(operator, shop.merchant, ("card", "PHP", "3.5", "15"), ("gcash", "PHP", "2", "0"))
    assert 'value="3.50"' in text_of(operator.get(page_of(shop.merchant).replace("change", "set-fees")))
    set_fees(operator, shop.merchant, ("card", "PHP", "", ""), ("gcash", "PHP", "2", "0"))
    assert newest().rates == {"gcash": {"PHP": {"basis_points": 200, "fixed": 0}}}
    assert AuditEntry.objects.latest("id").detail == "card in PHP: 350 basis points and 1500 → not set"


@pytest.mark.long
def test_a_template_gives_a_merchant_all_of_its_fees(operator: Client, shop: NewMerchant) -> None:
    set_fees(operator, shop.merchant, ("gcash", "PHP", "2", "0"))
    rows = {"fees_type": "card", "fees_currency": "PHP", "fees_percent": "3.5", "fees_fixed": "15"}
    add = reverse("admin:payments_feetemplate_add")
    assert operator.post(add, {"title": "Standard", **rows}).status_code == 302
    template = FeeTemplate.objects.get()
    assert template.rates == {"card": {"PHP": {"basis_points": 350, "fixed": 1500}}}
    assert act(operator, shop.merchant, "set_fees", template=str(template.pk)).status_code == 302
    assert newest().rates == template.rates


def test_a_changed_template_changes_no_merchant(operator: Client, shop: NewMerchant) -> None:
    template = FeeTemplate.objects.create(title="Standard", rates={"card": {"PHP": {"basis_points": 350, "fixed": 0}}})
    act(operator, shop.merchant, "set_fees", template=str(template.pk))
    rows = {"fees_type": "card", "fees_currency": "PHP", "fees_percent": "9", "fees_fixed": "0"}
    assert operator.post(page_of(template), {"title": "Standard", **rows}).status_code == 302
    template.refresh_from_db()
    assert template.rates["card"]["PHP"]["basis_points"] == 900
    assert newest().rates["card"]["PHP"]["basis_points"] == 350


def test_a_template_with_a_fee_that_nobody_can_be_charged_is_refused(operator: Client) -> None:
    rows = {"fees_type": "card", "fees_currency": "PHP", "fees_percent": "101", "fees_fixed": "0"}
    answer = operator.post(reverse("admin:payments_feetemplate_add"), {"title": "Standard", **rows})
    assert "errorlist" in text_of(answer)
    assert not FeeTemplate.objects.exists()


@pytest.mark.long
def test_types_without_a_fee_are_named(operator: Client, shop: NewMerchant) -> None:
    set_fees(operator, shop.merchant, ("every", "PHP", "2", "0"))
    assert "Every type has a fee" in text_of(operator.get(page_of(shop.merchant)))
    terms.remove_fee(shop.merchant, "gcash", "PHP")
    assert "No fee is set for GCash" in text_of(operator.get(page_of(shop.merchant)))


def test_the_checklist_follows_what_is_there(operator: Client, shop: NewMerchant, api: Api) -> None:
    assert "Have the merchant make a test payment" in text_of(operator.get(page_of(shop.merchant)))
    api.charge()
    text = text_of(operator.get(page_of(shop.merchant)))
    assert [line in text for line in ("A test payment succeeded", "A secret test key works", "Add a provider account")]


def test_the_page_sums_up_the_last_days_by_mode_and_currency(operator: Client, shop: NewMerchant) -> None:
    day = clock.now().date() - timedelta(days=1)
    kind = {"merchant": shop.merchant, "livemode": False, "currency": "PHP", "source_type": "card"}
    DayTotal.objects.create(day=day, outcome="approved", count=3, amount=123_450, **kind)
    DayTotal.objects.create(day=day, outcome="declined", count=1, amount=100, reason="card_declined", **kind)
    other = kind | {"merchant": MerchantFactory()}
    DayTotal.objects.create(day=day, outcome="approved", count=7, amount=700, **other)
    text = text_of(operator.get(page_of(shop.merchant))).replace("\N{NO-BREAK SPACE}", " ")
    assert "test: ₱1,234.50 in 3 charges; 75% approved, 1 declined, 0 abandoned" in text


def message_after(operator: Client, shop: NewMerchant, url: str) -> str:
    """Return the page that follows a test event to `url`."""
    answer = act(operator, shop.merchant, "send_test_event", url=url, mode="test")
    return text_of(operator.get(answer["Location"])) if answer.status_code == 302 else text_of(answer)


def test_a_test_event_is_signed_and_its_answer_is_said_and_recorded(
    operator: Client, shop: NewMerchant, settings: Any
) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True
    [secret] = valid_webhook_secrets(shop.merchant, False)
    with receiving(verifies(secret)) as receiver:
        text = message_after(operator, shop, receiver.url)
        assert [event["type"] for event in receiver.events] == ["charge.created"]
    assert re.search(r"The receiver answered 20\d after \d+ ms, properly\.", text)
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.reason) == ("tested", REASON)
    assert receiver.url not in entry.detail


def test_a_receiver_that_refuses_a_test_event_is_said_to(operator: Client, shop: NewMerchant, settings: Any) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True
    with receiving(lambda headers, body: 500) as receiver:
        assert "answered 500" in message_after(operator, shop, receiver.url)


def test_an_endpoint_is_added_with_a_secret_that_is_shown_once(operator: Client, shop: NewMerchant) -> None:
    url = "https://shop.example/hook"
    fields = {"mode": "live", "url": url, "events": ["charge.disputed", "payout.paid"], **once(operator)}
    text = text_of(act(operator, shop.merchant, "add_endpoint", **fields))
    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.livemode, endpoint.enabled_events) == (True, ["charge.disputed", "payout.paid"])
    assert valid_webhook_secrets(shop.merchant, True, endpoint)[0] in text
    assert url in text_of(operator.get(page_of(shop.merchant)))
    assert act(operator, shop.merchant, "add_endpoint", **fields).status_code == 302
    assert WebhookEndpoint.objects.count() == 1


def test_an_endpoint_to_which_nothing_may_be_sent_is_refused(operator: Client, shop: NewMerchant) -> None:
    fields = {"mode": "live", "url": "http://shop.example/hook", "events": ["*"]}
    refused = act(operator, shop.merchant, "add_endpoint", **fields)
    assert "Live mode calls https:// only." in text_of(refused)
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://shop.example/", "scheme must be https or http"),
        ("http://169.254.169.254/", "Nothing is sent to its address"),
    ],
)
def test_no_test_event_goes_where_no_webhook_may_go(url: str, why: str, operator: Client, shop: NewMerchant) -> None:
    assert why in message_after(operator, shop, url)


def test_only_one_test_event_of_a_merchant_is_under_way_at_once(operator: Client, shop: NewMerchant) -> None:
    assert UNDER_WAY.take(shop.merchant.id)
    try:
        assert "is under way" in message_after(operator, shop, "https://shop.example/hook")
    finally:
        UNDER_WAY.give_back(shop.merchant.id)


def test_test_events_of_other_merchants_leave_this_one_its_place(
    operator: Client, shop: NewMerchant, settings: Any
) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True
    others = [object() for _ in range(8)]
    assert all(map(UNDER_WAY.take, others))
    try:
        with receiving(lambda headers, body: 200) as receiver:
            assert "The receiver answered 200" in message_after(operator, shop, receiver.url)
    finally:
        for other in others:
            UNDER_WAY.give_back(other)


def test_ways_to_pay_are_switched_and_only_these(operator: Client, shop: NewMerchant) -> None:
    others = [name for name in sourcetypes.NAMES if name != "gcash"]
    fields = {"test": others, "live": sourcetypes.NAMES}
    assert act(operator, shop.merchant, "set_payment_methods", **fields).status_code == 302
    assert newest().payment_method_settings == {"gcash": {"enabled": True, "test": False}}
    entry = AuditEntry.objects.latest("id")
    assert (entry.detail, entry.reason) == ("gcash off in test mode", REASON)


def test_a_type_that_is_off_in_one_mode_is_on_in_the_other(operator: Client, shop: NewMerchant) -> None:
    terms.set_payment_method(shop.merchant, "gcash", False, livemode=False)
    assert Api(shop.keys["sk_test"]).post("/sources/", {"type": "gcash"}).status_code == 422
    switches = Merchant.objects.get().payment_method_settings
    assert [terms.is_enabled(switches, "gcash", livemode) for livemode in (False, True)] == [False, True]


def test_the_page_offers_the_ways_that_are_taken(operator: Client, shop: NewMerchant) -> None:
    act(operator, shop.merchant, "set_payment_methods", test=["card"], live=["maya"])
    text = text_of(operator.get(reverse("admin:payments_merchant_set_payment_methods", args=[shop.merchant.pk])))
    assert re.findall(r'value="(\w+)" [^>]*checked', text) == ["card", "maya"]


@pytest.mark.parametrize(("typed", "budget"), [("500", 500), ("", None)], ids=["a number", "as usual"])
def test_the_decline_budget_is_set(typed: str, budget: int | None, operator: Client) -> None:
    merchant = MerchantFactory(decline_budget=7)
    assert act(operator, merchant, "set_decline_budget", budget=typed).status_code == 302
    assert newest().decline_budget == budget


def test_live_cards_are_asked_for_on_the_page_and_wait_for_another(operator: Client, settings: Settings) -> None:
    settings.LIVE_CARDS_ATTESTED, asked = True, {"rows": 3, "digest": "0f" * 32}
    act(operator, MerchantFactory(), "move_customers", **asked)
    request = ApprovalRequest.objects.get()
    assert (request.kind, request.state, request.after) == ("move_customers", "proposed", asked)


def test_a_webhook_secret_is_rolled_and_the_old_one_signs_along(operator: Client, shop: NewMerchant) -> None:
    answer = act(operator, shop.merchant, "roll_webhook_secret", mode="test", hours="24")
    [shown] = re.findall(r"<code>(whsec_.+?)</code>", text_of(answer))
    assert valid_webhook_secrets(shop.merchant, livemode=False) == [shown, shop.webhook_secrets["whsec_test"]]
    assert valid_webhook_secrets(shop.merchant, livemode=True) == [shop.webhook_secrets["whsec_live"]]
    assert shown not in text_of(operator.get(page_of(shop.merchant)))


def test_a_webhook_secret_without_overlap_signs_alone(operator: Client, shop: NewMerchant) -> None:
    act(operator, shop.merchant, "roll_webhook_secret", mode="live", hours="0")
    assert len(valid_webhook_secrets(shop.merchant, livemode=True)) == 1
