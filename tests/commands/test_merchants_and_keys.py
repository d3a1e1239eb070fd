"""Commands for merchants, their keys, terms and BINs."""

import io
import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError

from payments import clock
from payments.domain.cards.bin_table import PREFIX_LENGTHS, describe, known_entries
from payments.domain.merchants.api_keys import key_digest
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import parse_id, public_id
from payments.models import ApiKey, BinRange, Merchant
from tests.client import Api, made
from tests.commands.conftest import Manage
from tests.concurrency import at_once
from tests.contract.calls import faults_of
from tests.factories import ApiKeyFactory, MerchantFactory

KEYS = {"sk_test", "pk_test", "sk_live", "pk_live"}
SHOWN_ONCE = "shown only this once"


def key_in(output: str) -> str:
    [text] = re.findall(r"[spr]k_(?:test|live)_[0-9a-f]{48}", output)
    return text


def works(text: str) -> bool:
    return Api(text).get("/ping").status_code == 200


def test_create_merchant_shows_the_keys_and_secrets_once(manage: Manage) -> None:
    output = manage("merchant", "create", "Sari Store")
    shown = dict(line.split() for line in output.splitlines() if line.startswith(("sk_", "pk_", "whsec_", "mer")))
    assert set(shown) == KEYS | {"merchant", "whsec_test", "whsec_live"}
    assert SHOWN_ONCE in output


def test_create_merchant_prints_json(manage: Manage) -> None:
    output = manage(
        "merchant", "create", "Sari Store", "--account-name", "Sari Inc.", "--statement-descriptor", "SARI", "--json"
    )
    assert output.count("\n") == 1
    made = json.loads(output)
    merchant = Merchant.objects.get(id=parse_id("mer", made.pop("merchant")))
    assert (merchant.account_name, merchant.statement_descriptor) == ("Sari Inc.", "SARI")
    assert set(made) == KEYS | {"whsec_test", "whsec_live"}
    assert works(made["sk_test"])


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["x" * 101], "title: "),
        ([""], "title: "),
        (["Store", "--account-name", "x" * 101], "account_name: "),
        (["Store", "--statement-descriptor", "ab"], "The statement descriptor must be 3 to 100 "),
    ],
)
def test_create_merchant_names_a_fault_in_one_line(manage: Manage, arguments: list[str], fault: str) -> None:
    with pytest.raises(CommandError) as refusal:
        manage("merchant", "create", *arguments)
    assert fault in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("mode", "kind", "prefix"), [("test", "secret", "sk_test"), ("live", "publishable", "pk_live")]
)
def test_create_key_makes_a_key_of_the_mode_and_kind(manage: Manage, mode: str, kind: str, prefix: str) -> None:
    MerchantFactory(title="Sari Store")
    output = manage("merchant", "create-key", "Sari Store", "--mode", mode, "--kind", kind)
    text = key_in(output)
    assert text.startswith(prefix)
    assert ApiKey.objects.get(digest=key_digest(text)).expires_at is None
    assert (SHOWN_ONCE in output) == (kind == "secret")


def test_create_key_can_give_a_key_an_end(manage: Manage) -> None:
    merchant = MerchantFactory()
    options = ["--mode", "test", "--kind", "secret", "--expires", "30d"]
    text = key_in(manage("merchant", "create-key", public_id("mer", merchant.id), *options))
    end = ApiKey.objects.get(digest=key_digest(text)).expires_at
    assert timedelta(days=29, hours=23) < end - clock.now() <= timedelta(days=30)


def test_create_key_gives_a_restricted_key_its_rights_and_networks(manage: Manage) -> None:
    MerchantFactory(title="Sari Store")
    limits = ["--rights", "refunds:write, charges:read", "--allow", "10.0.0.0/8,2001:db8::/32"]
    output = manage("merchant", "create-key", "Sari Store", "--mode=test", "--kind=restricted", *limits)
    key = ApiKey.objects.get(digest=key_digest(key_in(output)))
    assert key_in(output).startswith("rk_test_")
    assert (key.rights, key.allowed_networks) == (["charges:read", "refunds:write"], ["10.0.0.0/8", "2001:db8::/32"])
    assert ("charges:read, refunds:write" in output, "10.0.0.0/8, 2001:db8::/32" in output) == (True, True)
    assert SHOWN_ONCE in output


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--kind=restricted"], "A restricted key needs rights: any of sources:read"),
        (["--kind=restricted", "--rights=charges:read,charges:steal"], "There is no right 'charges:steal'; there are "),
        (["--kind=restricted", "--rights="], "There is no right ''"),
        (["--kind=secret", "--rights=charges:read"], "A secret key takes no rights"),
        (["--kind=publishable", "--rights=sources:write"], "A publishable key takes no rights"),
        (["--kind=secret", "--allow=10.0.0.1/8"], "10.0.0.1/8 has host bits set"),
        (["--kind=secret", "--allow=10.0.0.0/8,office"], "'office' does not appear to be an IPv4 or IPv6 network"),
        (["--kind=secret", "--allow="], "Networks are given as 10.0.0.0/8"),
        (["--kind=admin"], "invalid choice: 'admin'"),
    ],
)
def test_create_key_names_a_faulty_limit(manage: Manage, options: list[str], fault: str) -> None:
    MerchantFactory(title="Sari Store")
    with pytest.raises(CommandError, match=re.escape(fault)):
        manage("merchant", "create-key", "Sari Store", "--mode=test", *options)
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("text", ["30", "d", "-1d", "1.5h", "1w", "30 d", "٣d", "9999999d"])
def test_a_duration_that_cannot_be_read_is_refused(manage: Manage, text: str) -> None:
    MerchantFactory(title="Sari Store")
    with pytest.raises(CommandError, match="such as 90s, 30m, 24h or 90d"):
        manage("merchant", "create-key", "Sari Store", "--mode=test", "--kind=secret", f"--expires={text}")


def test_a_merchant_that_is_not_there_is_one_clear_line(manage: Manage) -> None:
    with pytest.raises(CommandError, match=r"^There is no merchant 'Nobody'\.$"):
        manage("merchant", "create-key", "Nobody", "--mode=test", "--kind=secret")


def test_both_keys_work_while_they_overlap(manage: Manage, shop: NewMerchant) -> None:
    old = shop.keys["sk_test"]
    output = manage("merchant", "roll-key", f"sk_test_{old[-4:]}", "--overlap", "24h")
    assert works(old)
    assert works(key_in(output))
    assert SHOWN_ONCE in output


def test_only_the_new_key_works_after_a_roll_without_overlap(manage: Manage, shop: NewMerchant) -> None:
    old = shop.keys["sk_test"]
    output = manage("merchant", "roll-key", f"sk_test_{old[-4:]}", "--overlap", "0h")
    assert not works(old)
    assert works(key_in(output))


def test_a_revoked_key_cannot_be_rolled(manage: Manage) -> None:
    key = ApiKeyFactory(revoked_at=clock.now())
    with pytest.raises(CommandError, match="create a new one"):
        manage("merchant", "roll-key", public_id("key", key.id))


def test_a_revoked_key_stops_at_once(manage: Manage, shop: NewMerchant) -> None:
    text = shop.keys["sk_test"]
    assert works(text)
    assert "revoked" in manage("merchant", "revoke-key", f"sk_test_{text[-4:]}")
    answer = Api(text).get("/ping")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "key_revoked")


def test_revoking_twice_says_so(manage: Manage) -> None:
    key = public_id("key", ApiKeyFactory().id)
    manage("merchant", "revoke-key", key)
    assert "before this" in manage("merchant", "revoke-key", key)


def test_a_key_is_read_from_standard_input(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> None:
    key = ApiKeyFactory()
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{key.text}\n"))
    manage("merchant", "revoke-key", "-")
    key.refresh_from_db()
    assert key.revoked_at


def test_the_origins_of_a_publishable_key_are_replaced(manage: Manage) -> None:
    key = ApiKeyFactory(kind="publishable", allowed_origins=["https://old.example"])
    name = public_id("key", key.id)
    assert "https://shop.example" in manage("merchant", "set-origins", name, "https://SHOP.example/")
    key.refresh_from_db()
    assert key.allowed_origins == ["https://shop.example"]
    assert "any origin" in manage("merchant", "set-origins", name)


def test_a_secret_key_is_given_no_origins(manage: Manage) -> None:
    with pytest.raises(CommandError, match="Only a publishable key"):
        manage("merchant", "set-origins", public_id("key", ApiKeyFactory().id), "https://shop.example")


@pytest.mark.parametrize("command", ["revoke-key", "roll-key"])
def test_a_key_that_is_not_there_is_refused(manage: Manage, command: str) -> None:
    with pytest.raises(CommandError, match=r"^There is no such key\.$"):
        manage("merchant", command, "0000")


def test_list_keys_shows_masked_keys_of_all_merchants(manage: Manage, shop: NewMerchant) -> None:
    ApiKeyFactory(merchant__title="Other Store")
    output = manage("merchant", "list-keys")
    assert len(output.splitlines()) == 6
    assert "Other Store" in output
    assert not any(text in output for text in shop.keys.values())
    assert f"sk_test_…{shop.keys['sk_test'][-4:]}" in output


def test_list_keys_shows_one_merchant_alone(manage: Manage) -> None:
    key = ApiKeyFactory()
    ApiKeyFactory()
    _, line = manage("merchant", "list-keys", key.merchant.title).splitlines()
    assert public_id("key", key.id) in line


@pytest.mark.parametrize(
    ("times", "state"),
    [
        ({}, "active"),
        ({"expires_at": clock.now() + timedelta(days=1)}, "expires 20"),
        ({"expires_at": clock.now()}, "expired 20"),
        ({"expires_at": clock.now(), "revoked_at": clock.now()}, "revoked 20"),
    ],
    ids=["active", "expires", "expired", "revoked"],
)
def test_list_keys_shows_the_state_of_a_key(manage: Manage, times: dict[str, object], state: str) -> None:
    ApiKeyFactory(**times)
    assert f"  {state}" in manage("merchant", "list-keys")


def test_list_keys_shows_the_limits_and_the_last_use_of_a_key(manage: Manage) -> None:
    limits = {"rights": ["charges:read", "events:read"], "networks": ["10.0.0.0/8"]}
    ApiKeyFactory(kind="restricted", last_used_at=datetime(2026, 11, 21, 1, 43, tzinfo=UTC), **limits)
    _, line = manage("merchant", "list-keys").splitlines()
    assert "rk_test_…" in line
    assert "2026-11-21T01:43:00Z  charges:read,events:read  10.0.0.0/8" in line


def test_list_keys_shows_a_key_without_limits_or_use(manage: Manage) -> None:
    ApiKeyFactory()
    assert re.search(r"active +- +- +everywhere", manage("merchant", "list-keys"))


CARD_FEE = ("merchant", "set-fee", "Sari Store", "card", "PHP")


def test_a_fee_is_set_and_shown_to_its_merchant(manage: Manage, api: Api, other_shop: NewMerchant) -> None:
    output = manage(*CARD_FEE, "--basis-points", 350, "--fixed", 1500)
    assert output == "From now on a charge on card costs 350 basis points and PHP 15.00.\n"
    assert made(api.get("/me"))["rates"]["card"] == {"mdr": 3.5, "fixed_fee": 1500}
    assert Merchant.objects.get(id=other_shop.merchant.id).rates == {}


def test_a_fee_replaces_the_one_before_and_leaves_the_others(manage: Manage, shop: NewMerchant) -> None:
    manage(*CARD_FEE, "--basis-points", 350, "--fixed", 15)
    manage("merchant", "set-fee", "Sari Store", "card", "JPY", "--fixed", 40)
    manage(*CARD_FEE, "--basis-points", 290)
    assert Merchant.objects.get().rates["card"] == {
        "PHP": {"basis_points": 290, "fixed": 0},
        "JPY": {"basis_points": 0, "fixed": 40},
    }


def test_a_fee_is_removed(manage: Manage, api: Api) -> None:
    manage(*CARD_FEE, "--fixed", 15)
    assert manage(*CARD_FEE, "--remove").endswith("costs 0 basis points and PHP 0.00.\n")
    assert made(api.get("/me"))["rates"]["card"] == {"mdr": 0.0, "fixed_fee": 0}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["cash", "PHP", "--fixed", "1"], "'cash' has no fee; there are card, gcash"),
        (["card", "php", "--fixed", "1"], "'php' is no ISO 4217 currency code of today in upper case"),
        (["card", "XAU", "--fixed", "1"], "'XAU' is no ISO 4217 currency code"),
        (["card", "PHP", "--basis-points", "10001"], "from 0 to 10000"),
        (["card", "PHP", "--basis-points=-1"], "'-1' is not a whole number in digits alone"),
        (["card", "PHP", "--fixed", "100000000000"], "from 0 to 99999999999"),
        (["card", "PHP", "--fixed", "1.5"], "'1.5' is not a whole number in digits alone"),
        (["card", "PHP"], "Give --basis-points, --fixed or both"),
        (["card", "PHP", "--fixed", "1", "--remove"], "or --remove alone"),
        (["card", "PHP", "--remove"], "No fee is set for card in PHP."),
        (["cash", "PHP", "--remove"], "No fee is set for cash in PHP."),
    ],
)
def test_a_fee_that_cannot_be_is_refused_in_one_clear_line(
    manage: Manage, shop: NewMerchant, arguments: list[str], complaint: str
) -> None:
    with pytest.raises(CommandError) as refusal:
        manage("merchant", "set-fee", "Sari Store", *arguments)
    assert complaint in str(refusal.value)
    assert Merchant.objects.get().rates == {}


@pytest.mark.django_db(transaction=True)
def test_fees_set_at_once_are_all_kept(manage: Manage, shop: NewMerchant) -> None:
    currencies = ["PHP", "JPY", "USD", "KWD"]
    at_once(
        len(currencies),
        lambda number: manage("merchant", "set-fee", "Sari Store", "card", currencies[number], "--fixed", 1),
    )
    assert sorted(Merchant.objects.get().rates["card"]) == sorted(currencies)


def test_a_payment_method_that_is_off_makes_no_new_sources(manage: Manage, api: Api) -> None:
    made_before = api.wallet("gcash")
    assert manage("merchant", "set-payment-method", "Sari Store", "gcash", "off") == "gcash is off.\n"
    assert faults_of(api.post("/sources/", {"type": "gcash"})) == {"type": "source_type_unavailable"}
    methods = made(api.get("/me"))["payment_method_settings"]
    assert [name for name in methods if methods[name]["status"] != "approved"] == ["gcash"]
    assert methods["gcash"]["status"] == "rejected"
    assert api.charge_source(made_before)["status"] == "pending"
    assert api.wallet("maya")


def test_a_payment_method_is_switched_on_again(manage: Manage, api: Api) -> None:
    for state in ("off", "on"):
        manage("merchant", "set-payment-method", "Sari Store", "card", state)
    assert api.source()
    assert made(api.get("/me"))["payment_method_settings"]["card"]["status"] == "approved"


def test_a_payment_method_is_switched_in_one_mode(manage: Manage, api: Api) -> None:
    output = manage("merchant", "set-payment-method", "Sari Store", "gcash", "off", "--mode", "live")
    assert output == "gcash is off in live mode.\n"
    assert api.wallet("gcash")
    assert Merchant.objects.get().payment_method_settings == {"gcash": {"enabled": True, "live": False}}


def test_a_payment_method_is_of_one_merchant(manage: Manage, shop: NewMerchant, other_shop: NewMerchant) -> None:
    manage("merchant", "set-payment-method", "Sari Store", "card", "off")
    assert Api(other_shop.keys["sk_test"]).source()


def test_an_unknown_payment_method_is_refused(manage: Manage, shop: NewMerchant) -> None:
    with pytest.raises(CommandError, match="'cash' is no source type"):
        manage("merchant", "set-payment-method", "Sari Store", "cash", "off")


HEADER = "prefix,brand,funding,country,issuing_bank"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "bins.csv"


def test_what_was_imported_describes_the_next_card(manage: Manage, file: Path) -> None:
    file.write_text(f"{HEADER}\r\n42424242,visa,debit,PH,Bánco de Oro\r\n", encoding="utf-8-sig")
    assert manage("import_bins", file) == "1 added, 0 changed, 0 unchanged.\n"
    assert describe("4242424242424242").issuing_bank == "Bánco de Oro"


@pytest.mark.django_db
def test_the_longest_entry_that_a_number_begins_with_describes_it() -> None:
    number, other = "4242424242424242", "4242424249999999"
    for length in PREFIX_LENGTHS:
        BinRange.objects.create(prefix=number[:length], brand="visa", issuing_bank=f"{length} digits")
        known_entries.cache.clear()
        assert describe(number).issuing_bank == f"{length} digits"
    assert describe(other).issuing_bank == "9 digits"


def test_the_same_file_again_changes_nothing(manage: Manage, file: Path) -> None:
    file.write_text(f"{HEADER}\n42424242,visa,debit,PH,Bank\n")
    manage("import_bins", file)
    assert manage("import_bins", file) == "0 added, 0 changed, 1 unchanged.\n"


def test_one_bad_line_keeps_the_whole_file_out(manage: Manage, file: Path) -> None:
    file.write_text(f"{HEADER}\n42424242,visa,debit,PH,Bank\n5555,diners,credit,US,Bank\n")
    with pytest.raises(CommandError, match=r"bins\.csv, line 3: brand must be one of"):
        manage("import_bins", file)
    assert not BinRange.objects.exists()


def test_a_file_that_is_not_there_is_one_clear_line(manage: Manage, file: Path) -> None:
    with pytest.raises(CommandError, match=r"bins\.csv cannot be read: No such file"):
        manage("import_bins", file)


def test_a_file_in_another_encoding_is_refused(manage: Manage, file: Path) -> None:
    file.write_bytes(f"{HEADER}\n42424242,visa,debit,PH,Bánco\n".encode("latin-1"))
    with pytest.raises(CommandError, match=r"bins\.csv cannot be read: it is not UTF-8"):
        manage("import_bins", file)
