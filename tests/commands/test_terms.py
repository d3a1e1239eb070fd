import pytest
from django.core.management import CommandError

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Merchant
from tests.client import Api, made
from tests.commands.conftest import Manage
from tests.concurrency import at_once
from tests.contract.calls import faults_of

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
