"""What a source may hold: every bound of every member, and every fault at once."""

import unicodedata
from typing import Any

import pytest

from tests.client import CARD_FIELDS, Api, made
from tests.contract.calls import BEYOND_P, CARD_SOURCE, NO_OBJECTS, NO_STRINGS, each, faults_of, value_at, with_members

ADDRESS = {"phone_number": 50, "line1": 255, "line2": 255, "city": 100, "state": 50, "country": 50, "zip_code": 50}
# The longest length of every text that follows P and may be left out.
OPTIONAL = {
    **{f"card.address_{part}": 255 for part in ("line1", "line2", "city", "state", "country")},
    "card.address_zip": 50,
    **{f"owner.billing.{name}": length for name, length in ADDRESS.items()},
    **{f"owner.shipping.{name}": length for name, length in ADDRESS.items()},
    "owner.address_country": 50,
}
REQUIRED = {"card.name": 50, "owner.billing.name": 50, "owner.shipping.name": 50}
NAMES = OPTIONAL | REQUIRED
EMAILS = ["owner.billing.email", "owner.shipping.email"]
TEXTS = {**NAMES, "owner.name": 50}
BASE = with_members(CARD_SOURCE, {"owner.billing.name": "Juan", "owner.shipping.name": "Maria"})
URL = "https://shop.example/"


def create(api: Api, members: dict[str, Any], body: dict[str, Any] = BASE) -> Any:
    return api.post("/sources/", with_members(body, members))


def values_of(source: dict[str, Any], names: Any) -> dict[str, Any]:
    return {name: value_at(source, name) for name in names}


@pytest.mark.parametrize("text", ["A", "0", "'", "#", "_", ".", "-", ",", "Juan dela Cruz", "O'Neil, Jr. #2_b-c"])
def test_texts_of_p_are_returned_as_they_were_sent(api: Api, text: str) -> None:
    members = dict.fromkeys(TEXTS, text)
    assert values_of(made(create(api, members)), TEXTS) == members


def test_texts_may_have_their_longest_length(api: Api) -> None:
    members = {name: "x" * length for name, length in TEXTS.items()}
    assert values_of(made(create(api, members)), TEXTS) == members


def test_texts_beyond_their_longest_length_are_refused_all_at_once(api: Api) -> None:
    members = {name: "x" * (length + 1) for name, length in TEXTS.items()}
    assert faults_of(create(api, members)) == dict.fromkeys(TEXTS, "too_long")


def test_empty_texts_are_refused_all_at_once(api: Api) -> None:
    assert faults_of(create(api, dict.fromkeys(NAMES, ""))) == dict.fromkeys(NAMES, "too_short")


@each(BEYOND_P)
def test_texts_beyond_p_are_refused_all_at_once(api: Api, value: str) -> None:
    assert faults_of(create(api, dict.fromkeys(NAMES, value))) == dict.fromkeys(NAMES, "pattern")


def test_the_name_of_an_owner_is_free_text(api: Api) -> None:
    assert made(create(api, {"owner.name": "José Ñandú & 息子"}))["owner"]["name"] == "José Ñandú & 息子"


@each(NO_STRINGS)
def test_texts_of_another_type_are_refused_all_at_once(api: Api, value: Any) -> None:
    names = [*TEXTS, *EMAILS]
    assert faults_of(create(api, dict.fromkeys(names, value))) == dict.fromkeys(names, "invalid_type")


def test_a_null_for_an_optional_member_means_absent(api: Api) -> None:
    names = [*OPTIONAL, *EMAILS, "owner.name", "metadata", "redirect"]
    source = made(create(api, dict.fromkeys(names, None)))
    assert source["owner"] == {"billing": {"name": "Juan"}, "shipping": {"name": "Maria"}}
    assert (source["metadata"], "redirect" in source) == ({}, False)
    assert not any(name.startswith("address") for name in source["card"])


def test_a_null_for_a_whole_object_means_absent(api: Api) -> None:
    source = made(create(api, {"owner": None, "redirect": None, "metadata": None}))
    assert (source["metadata"], source.keys() & {"owner", "redirect"}) == ({}, set())


def test_a_null_for_a_required_member_is_missing(api: Api) -> None:
    names = [*REQUIRED, "type", "card.number", "card.exp_month", "card.exp_year", "card.cvc"]
    assert faults_of(create(api, dict.fromkeys(names, None))) == dict.fromkeys(names, "missing")


def test_every_required_member_of_a_card_is_missed_at_once(api: Api) -> None:
    members = ("name", "number", "exp_month", "exp_year", "cvc")
    expected = {f"card.{name}": "missing" for name in members}
    assert faults_of(api.post("/sources/", {"type": "card", "card": {}})) == expected


@each([{}, {"name": ""}])
def test_an_owner_needs_no_member(api: Api, value: dict[str, str]) -> None:
    assert api.post("/sources/", CARD_SOURCE | {"owner": value}).status_code == 200


@pytest.mark.parametrize("which", ["billing", "shipping"])
def test_an_address_needs_a_name(api: Api, which: str) -> None:
    body = CARD_SOURCE | {"owner": {which: {"city": "Cebu"}}}
    assert faults_of(api.post("/sources/", body)) == {f"owner.{which}.name": "missing"}


@pytest.mark.parametrize("email", ["maria@shop.example", "a.b+c@sub.shop.example"])
def test_an_owner_may_have_an_email_address(api: Api, email: str) -> None:
    assert values_of(made(create(api, dict.fromkeys(EMAILS, email))), EMAILS) == dict.fromkeys(EMAILS, email)


@pytest.mark.parametrize("email", ["maria", "maria@", "@shop.example", "a b@shop.example", "maria@shop.example\n"])
def test_what_is_no_email_address_is_refused(api: Api, email: str) -> None:
    assert faults_of(create(api, dict.fromkeys(EMAILS, email))).keys() == {*EMAILS}


@each(NO_OBJECTS)
def test_an_object_is_nothing_else(api: Api, value: Any) -> None:
    names = ["card", "owner", "redirect", "metadata"]
    body = {"type": "card", **dict.fromkeys(names, value)}
    assert faults_of(api.post("/sources/", body)) == dict.fromkeys(names, "invalid_type")


def test_an_empty_email_address_is_none(api: Api) -> None:
    source = made(create(api, dict.fromkeys(EMAILS, "")))
    assert source["owner"] == {"billing": {"name": "Juan"}, "shipping": {"name": "Maria"}}


def test_unknown_members_are_refused_at_every_depth(api: Api) -> None:
    names = ["", "captur", "card.pin", "owner.age", "owner.billing.floor", "owner.shipping.floor", "redirect.cancel"]
    base = with_members(BASE, {"redirect.success": URL, "redirect.fail": URL})
    assert faults_of(create(api, dict.fromkeys(names, "x"), base)) == dict.fromkeys(names, "unknown_parameter")


@each(["PHP", "php", "nonsense", "", 5, None, [], {"a": 1}])
def test_a_currency_is_accepted_and_ignored(api: Api, value: Any) -> None:
    assert "currency" not in made(create(api, {"currency": value}))


def test_what_only_a_response_shows_cannot_be_sent(api: Api) -> None:
    names = ["id", "object", "livemode", "used", "vaulted", "created_at", "bank_account", "card.brand", "card.last4"]
    assert faults_of(create(api, dict.fromkeys(names, True))) == dict.fromkeys(names, "unknown_parameter")


def test_where_the_payer_is_sent_back_to_is_returned_as_it_was_sent(api: Api) -> None:
    redirect = {
        "success": "https://shop.example/thanks?order=1&a=%20b#end",
        "fail": "http://127.0.0.1:8080/sorry",
        "notify": f"http://shop.example/{'x' * 2063}",
    }
    assert len(redirect["notify"]) == 2083
    assert made(create(api, {"redirect": redirect}))["redirect"] == redirect


def test_a_redirect_without_notify_has_none(api: Api) -> None:
    redirect = {"success": URL, "fail": URL}
    assert made(create(api, {"redirect": redirect}))["redirect"] == redirect


@pytest.mark.parametrize("redirect", [{}, {"notify": URL}, {"success": None, "fail": None}])
def test_a_redirect_needs_success_and_fail(api: Api, redirect: dict[str, Any]) -> None:
    expected = {"redirect.success": "missing", "redirect.fail": "missing"}
    assert faults_of(create(api, {"redirect": redirect})) == expected


@each(["", "shop.example", "/thanks", "//shop.example/", "ftp://shop.example/", "javascript:alert(1)", "https://"])
def test_only_absolute_web_addresses_are_urls(api: Api, value: str) -> None:
    names = ["redirect.success", "redirect.fail", "redirect.notify"]
    assert faults_of(create(api, dict.fromkeys(names, value))).keys() == {*names}


def test_a_url_beyond_its_longest_length_is_refused(api: Api) -> None:
    names = ["redirect.success", "redirect.fail", "redirect.notify"]
    url = URL + "x" * (2084 - len(URL))
    assert faults_of(create(api, dict.fromkeys(names, url))) == dict.fromkeys(names, "too_long")


def test_live_mode_wants_https_for_notify(live_api: Api) -> None:
    redirect = {"success": "http://shop.example", "fail": "http://shop.example", "notify": "http://shop.example"}
    assert faults_of(create(live_api, {"redirect": redirect})).keys() == {"redirect.notify"}


NEVER_CALLED = [
    "https://user:pass@shop.example/",
    "https://shop.example.:443/",
    "https://shop.example:22/",
    "https://127.1/",
    "https://10.0.0.1/",
    "https://169.254.169.254/",
    "https://[fe80::1]/",
]


@each(NEVER_CALLED)
def test_a_notify_url_that_would_never_be_called_is_refused(api: Api, value: str) -> None:
    redirect = {"success": URL, "fail": URL, "notify": value}
    response = create(api, {"redirect": redirect})
    assert faults_of(response) == {"redirect.notify": "invalid_url"}
    assert "Nothing would ever be sent to this URL." in response.content.decode()
    assert value not in response.content.decode()


@each(["https://127.0.0.1/", "https://[::1]/", "https://shop.example:9000/"])
def test_live_mode_refuses_to_notify_loopback_and_other_ports(live_api: Api, value: str) -> None:
    redirect = {"success": URL, "fail": URL, "notify": value}
    assert faults_of(create(live_api, {"redirect": redirect})) == {"redirect.notify": "invalid_url"}


def test_a_payer_may_be_sent_back_to_what_could_not_be_notified(api: Api) -> None:
    redirect = {"success": "https://user:pass@shop.example/", "fail": "http://10.0.0.1/", "notify": URL}
    assert made(create(api, {"redirect": redirect}))["redirect"] == redirect


def test_test_mode_notifies_without_https_too(api: Api) -> None:
    redirect = dict.fromkeys(("success", "fail", "notify"), "http://127.0.0.1:9000/hook")
    assert made(create(api, {"redirect": redirect}))["redirect"] == redirect


def test_names_and_addresses_keep_their_letters(api: Api) -> None:
    address = {"name": "Niño Peña", "line1": "Ñuñoa 5", "city": "Parañaque", "country": "Perú"}
    owner = {"name": "李小龍", "billing": address, "shipping": address}
    card = {**CARD_FIELDS, "number": "4242424242424242", "name": unicodedata.normalize("NFD", "Niño Peña")}
    members = {"type": "card", "card": {**card, "address_city": "Parañaque"}, "owner": owner}
    source = made(api.post("/sources/", members))
    assert (source["card"]["name"], source["card"]["address_city"]) == ("Niño Peña", "Parañaque")
    assert source["owner"] | owner == source["owner"]
    charge = made(api.post("/charges/", {"amount": 100, "source": source["id"], "description": "Kakanin"}))
    assert charge["source"]["card"]["name"] == "Niño Peña"
