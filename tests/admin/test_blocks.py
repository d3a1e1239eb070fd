"""Operators block a card by its number, or who pays a charge, and lift blocks; a number typed there is nowhere kept."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from payments.ids import parse_id
from payments.models import AuditEntry, Block, Charge, Merchant, MerchantAccess, Source
from tests.admin.conftest import House, text_of
from tests.admin.test_pages import list_of, page_of
from tests.client import APPROVED, CHALLENGED, REFUNDS_WAIT, Api
from tests.factories import MerchantFactory
from tests.risk.factories import WHY, block_card, block_email
from tests.staff.all_merchants import for_all

pytestmark = pytest.mark.long

ADD = "/admin/payments/block/add/"
JUAN = "juan@example.com"


def filled_in(**members: Any) -> dict[str, Any]:
    return {"mode": "test", "merchant": "", "lasts": "", "reason": WHY} | members


def of_source(source: Source) -> str:
    return reverse("admin:payments_source_block", args=[source.pk])


def lift_of(block: Block) -> str:
    return reverse("admin:payments_block_lift", args=[block.pk])


def test_a_card_is_blocked_by_its_number(api: Api, operator: Client) -> None:
    text = text_of(operator.post(ADD, filled_in(number="4000 0000-0000 3055"), follow=True))
    assert "Blocked: charges on Visa …3055 are declined from now on." in text
    assert api.charge()["status"] == "failed"
    block = Block.objects.get()
    assert (block.put_by.username, block.reason, block.merchant, block.expires_at) == ("operator", WHY, None, None)


def test_a_number_that_was_typed_is_nowhere_kept_nor_shown(operator: Client) -> None:
    wrong = text_of(operator.post(ADD, filled_in(number=APPROVED, email=JUAN)))
    done = operator.post(ADD, filled_in(number=APPROVED))
    pages = wrong + text_of(operator.get(done["Location"])) + text_of(operator.get(list_of(Block)))
    kept = [repr(row) for model in (Block, AuditEntry) for row in model.objects.values()]
    assert [text for text in [pages, done["Location"], *kept] if APPROVED in text] == []
    assert bytes(Block.objects.get().fingerprint or b"").hex() not in pages


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"number": APPROVED, "email": JUAN},
        {"number": "4000000000003056"},
        {"number": "40000000"},
        {"email": "juan"},
        {"bin": "41111"},
        {"address": "203.0.113"},
        {"address": "203.0.113.7", "bin": "411111"},
        {"email": JUAN, "reason": ""},
        {"email": JUAN, "reason": f"It is {CHALLENGED}"},
        {"email": JUAN, "lasts": "400"},
    ],
    ids=[
        "nothing",
        "both",
        "wrong digit",
        "too short",
        "no address",
        "short BIN",
        "half an address",
        "address and BIN",
        "no reason",
        "a number as reason",
        "odd time",
    ],
)
def test_what_cannot_be_is_said_and_blocks_nothing(operator: Client, given: dict[str, str]) -> None:
    text = text_of(operator.post(ADD, filled_in(**given)))
    assert "errorlist" in text
    assert CHALLENGED not in text
    assert not Block.objects.exists()


def test_a_block_may_end_by_itself_and_be_at_one_merchant(operator: Client) -> None:
    merchant = MerchantFactory()
    operator.post(ADD, filled_in(email="Juan@Example.com", merchant=merchant.pk, lasts="7", mode="live"))
    block = Block.objects.get()
    assert block.expires_at is not None
    days = (block.expires_at - block.created_at).total_seconds() / 86_400
    assert (block.email, block.merchant, block.livemode, round(days)) == (JUAN, merchant, True, 7)


@pytest.mark.parametrize(
    ("given", "blocked"),
    [
        ({"bin": "411111"}, "cards 411111…"),
        ({"address": "203.0.113.7"}, "calls from 203.0.113.7"),
        ({"address": "2001:db8:0:7::99"}, "calls from 2001:db8:0:7::/64"),
        ({"domain": "@Shop.example"}, "@shop.example"),
    ],
    ids=["BIN", "address", "network", "domain"],
)
def test_what_many_have_in_common_is_blocked(operator: Client, given: dict[str, str], blocked: str) -> None:
    operator.post(ADD, filled_in(**given))
    assert str(Block.objects.get()) == blocked


def test_the_page_of_a_charge_leads_to_a_form_with_all_by_which_its_payer_is_known(
    house: House, operator: Client
) -> None:
    charge = Charge.objects.get(id=parse_id("ch", house.charge["id"]))
    Source.objects.filter(id=charge.source_id).update(owner={"billing": {"email": JUAN}})
    for row in (charge, charge.source.card):
        assert of_source(charge.source) in text_of(operator.get(page_of(row)))
    form = text_of(operator.get(of_source(charge.source)))
    assert [text in form for text in ("The card Visa …7726", JUAN, "Every card that begins with 400000")] == [True] * 3


@pytest.mark.parametrize(("what", "blocked"), [("card", "Visa …7726"), ("bin", "cards 400000…"), (JUAN, JUAN)])
def test_who_pays_a_charge_is_blocked_in_its_mode(house: House, operator: Client, what: str, blocked: str) -> None:
    source = Source.objects.get(id=parse_id("src", house.charge["source"]["id"]))
    Source.objects.filter(id=source.id).update(owner={"billing": {"email": JUAN}})
    operator.post(of_source(source), {"what": what, "merchant": source.merchant_id, "lasts": "", "reason": WHY})
    block = Block.objects.get()
    assert (str(block), block.livemode, block.merchant) == (blocked, False, source.merchant)


def test_only_what_the_payer_is_known_by_is_blocked_there(house: House, operator: Client) -> None:
    source = Source.objects.get(id=parse_id("src", house.charge["source"]["id"]))
    text_of(operator.post(of_source(source), {"what": "ana@example.com", "lasts": "", "reason": WHY}))
    assert not Block.objects.exists()


def test_the_page_of_a_block_shows_what_it_declined(api: Api, operator: Client) -> None:
    block = block_card()
    charge = api.charge()
    assert charge["id"] in text_of(operator.get(page_of(block)))


def test_a_block_is_lifted_with_a_reason(api: Api, operator: Client) -> None:
    block = block_card()
    assert lift_of(block) in text_of(operator.get(page_of(block)))
    assert "errorlist" in text_of(operator.post(lift_of(block), {"reason": ""}))
    text = text_of(operator.post(lift_of(block), {"reason": "It was another card"}, follow=True))
    assert ("Lifted: Visa …3055 may be charged again." in text, lift_of(block) in text) == (True, False)
    assert api.charge()["status"] == "succeeded"
    assert "Another operator has lifted it already." in text_of(
        operator.post(lift_of(block), {"reason": "Again"}, follow=True)
    )


@pytest.mark.parametrize(("status", "chip"), [("in_force", "in force"), ("over", "over"), ("lifted", "lifted")])
def test_each_status_is_a_chip_and_a_filter(operator: Client, status: str, chip: str) -> None:
    for number, values in enumerate(({}, {"expires_at": "2026-01-01T00:00Z"}, {"lifted_at": "2026-01-01T00:00Z"})):
        block = block_email(f"p{number}@example.com")
        lifted = {"lifted_by": block.put_by, "lifted_because": "So"} if "lifted_at" in values else {}
        Block.objects.filter(id=block.id).update(**values, **lifted)
    text = text_of(operator.get(list_of(Block), {"status": status}))
    assert text.count("field-shown_status") == 1
    assert f">{chip}</span>" in text


@pytest.fixture
def limited(db: None) -> Client:
    """Who may do everything, at one of two merchants."""
    mine, _other = MerchantFactory(title="Mine"), MerchantFactory(title="Other")
    user = User.objects.create(username="limited", is_staff=True)
    of_payments = Permission.objects.filter(content_type__app_label="payments")
    user.user_permissions.set(of_payments.exclude(codename="work_for_all_merchants"))
    MerchantAccess.objects.create(user=user, merchant=mine)
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize(("where", "put"), [("", 0), ("Other", 0), ("Mine", 1)])
def test_who_is_limited_to_some_merchants_blocks_there_alone(limited: Client, where: str, put: int) -> None:
    merchant = Merchant.objects.get(title=where).pk if where else ""
    limited.post(ADD, filled_in(email=JUAN, merchant=merchant))
    assert Block.objects.count() == put


def test_who_is_limited_to_some_merchants_sees_and_lifts_no_other_block(limited: Client) -> None:
    for block in (block_email(JUAN), block_email("a@b.ph", merchant=Merchant.objects.get(title="Other"))):
        assert str(block) not in text_of(limited.get(list_of(Block)))
        assert limited.post(lift_of(block), {"reason": "So"}).status_code == 404


def test_who_may_only_look_is_offered_nothing(house: House) -> None:
    looker = User.objects.create(username="looker", is_staff=True)
    looker.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    for_all(looker)
    client = Client()
    client.force_login(looker)
    block, charge = block_card(REFUNDS_WAIT), Charge.objects.get()
    pages = [list_of(Block), page_of(block), page_of(charge), page_of(charge.source.card)]
    text = "".join(text_of(client.get(page)) for page in pages)
    assert [act for act in (ADD, lift_of(block), of_source(charge.source)) if act in text] == []
