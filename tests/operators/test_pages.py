"""Acts as operators do them: a form, what will happen in words, and how it went."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import parse_id
from payments.models import ApprovalLimit, Attempt, AuditEntry, Charge, OperatorAction, Refund
from tests.admin.conftest import text_of
from tests.admin.test_pages import list_of, page_of
from tests.charging.doubles import LosesAnswers, Unreachable, provider
from tests.client import APPROVED, Api, made
from tests.disputes.stories import make_dispute
from tests.operators.conftest import client_of
from tests.operators.factories import ALONE, NOTE, REASON, person, proposed
from tests.operators.forms import acted, asked, confirm, decide, form_on, page_at
from tests.overview.past_charges import make_past_charge

pytestmark = [pytest.mark.long, pytest.mark.django_db, pytest.mark.usefixtures("commits")]
MONEY = "₱"


@pytest.mark.parametrize(
    ("kind", "is_held", "becomes", "said"),
    [
        ("capture", True, "succeeded", "₱50.00 is captured from Juan dela Cruz."),
        ("release", True, "voided", "The hold of ₱50.00 on Juan dela Cruz is released."),
        ("extend", True, "succeeded", "The hold of ₱50.00 on Juan dela Cruz is extended."),
        (
            "refund",
            False,
            "refunded",
            "₱50.00 is sent back to Juan dela Cruz. Their bank may need",
        ),
        ("void", False, "voided", "₱50.00 is sent back to Juan dela Cruz, and the fee is given back to the merchant."),
    ],
)
def test_finance_does_every_kind_of_act(
    kind: str, is_held: bool, becomes: str, said: str, api: Api, ben: Client
) -> None:
    api.charge(amount=ALONE, capture=not is_held)
    assert page_at(kind) in text_of(ben.get(page_of(Charge.objects.get())))
    assert said in acted(ben, kind)
    assert Charge.objects.get().status == becomes


def test_the_reason_of_a_refund_that_was_chosen_is_the_refund_s(api: Api, ana: Client) -> None:
    api.charge(amount=ALONE)
    acted(ana, "refund", refund_reason="duplicate")
    assert Refund.objects.get().reason == "duplicate"
    assert "Charged twice" in text_of(ana.get(page_of(Charge.objects.get())))


def test_the_form_has_what_is_left_and_a_part_of_it_may_be_written(api: Api, ana: Client) -> None:
    charge = api.charge(amount=123_450)
    api.post(f"/charges/{charge['id']}/refund", {"amount": 450})
    assert form_on(text_of(ana.get(page_at("refund"))))["amount"] == "1,230.00"
    acted(ana, "refund", amount="12.5")
    assert Charge.objects.get().amount_refunded == 450 + 1_250


def test_the_page_says_what_will_happen_to_whose_money(api: Api, ana: Client) -> None:
    api.charge(amount=10_000)
    text = asked(ana, "refund", amount="20.00")
    goes = f"{MONEY}20.00 goes back to the payer of Sari Store, Visa\xa03055"
    facts = [goes, "merchant&#x27;s balance falls", REASON]
    assert [words for words in facts if words not in text] == []
    assert Charge.objects.get().amount_refunded == 0


@pytest.mark.parametrize(("kind", "hold", "stands_out"), [("refund", False, True), ("capture", True, False)])
def test_what_gives_money_back_stands_out_in_the_menu(
    kind: str, hold: bool, stands_out: bool, api: Api, ben: Client
) -> None:
    api.charge(capture=not hold)
    offered, confirmed = text_of(ben.get(page_of(Charge.objects.get()))), asked(ben, kind, amount="1.00")
    assert (f'{page_at(kind)}" class="primary danger"' in offered) == stands_out
    assert ("default danger" in confirmed, '<p class="consequence">' in confirmed) == (False, True)


def test_what_gives_money_back_is_last_in_the_menu(api: Api, ben: Client) -> None:
    api.charge()
    offered = text_of(ben.get(page_of(Charge.objects.get())))
    menu = offered[offered.index("More actions") : offered.index("</details>", offered.index("More actions"))]
    labels = re.findall(r'class="(danger|)">([^<]+)<', menu)
    assert labels[-1] == ("danger", "Void")
    assert [mark for mark, _ in labels] == sorted(mark for mark, _ in labels)


def test_a_button_that_named_another_sum_moves_nothing_and_shows_what_this_one_would(api: Api, ana: Client) -> None:
    api.charge()
    form = form_on(text_of(ana.get(page_at("refund")))) | {"reason": REASON, "amount": "10", "decision": "refund"}
    text = text_of(ana.post(page_at("refund"), form))
    assert f">Refund {MONEY}10.00</button>" in text
    assert not OperatorAction.objects.exists()


@pytest.mark.parametrize("amount", ["0", "-1", "100.01", "1.001", "1e2", "1.000,00", "NaN", ""], ids=repr)
def test_an_amount_that_is_none_or_too_much_is_refused(amount: str, api: Api, ana: Client) -> None:
    api.charge(amount=10_000)
    text = asked(ana, "refund", amount=amount)
    assert "errorlist" in text
    assert not OperatorAction.objects.exists()


@pytest.mark.parametrize("reason", ["", " ", f"card {APPROVED}"], ids=["empty", "blank", "a card number"])
def test_nobody_acts_without_a_reason_nor_with_a_card_number_in_it(reason: str, api: Api, ana: Client) -> None:
    api.charge()
    text = asked(ana, "refund", amount="1", reason=reason)
    assert ("errorlist" in text, APPROVED in text) == (True, False)
    assert not OperatorAction.objects.exists()


def test_the_same_confirmation_sent_twice_moves_money_once(api: Api, ana: Client) -> None:
    api.charge()
    page = asked(ana, "refund", amount="10")
    confirm(ana, "refund", page)
    assert "sent before" in text_of(confirm(ana, "refund", page))
    assert (Charge.objects.get().amount_refunded, OperatorAction.objects.count()) == (1_000, 1)


def test_above_the_limit_another_person_approves_and_it_is_done(api: Api, ana: Client, ben: Client) -> None:
    api.charge(description="Rattan sofa")
    page = asked(ana, "refund", amount="50.01")
    assert f"You give back {MONEY}50.00 of a charge alone." in page
    assert "Another person must approve" in text_of(confirm(ana, "refund", page))
    act, charge = OperatorAction.objects.get(), page_of(Charge.objects.get())
    waits = (f"Refund of {MONEY}50.01 waits for another person.", f"ana asked to refund {MONEY}50.01; another")
    text = text_of(ana.get(charge))
    assert [words for words in (*waits, page_at("refund")) if words not in text] == [page_at("refund")]
    address = reverse("admin:payments_operatoraction_decide", args=[act.pk])
    assert address in text_of(ben.get(charge))
    text = text_of(ben.get(address))
    why = f"It waits because ana gives back {MONEY}50.00 of a charge alone."
    facts = ("goes back to the payer", REASON, "ana asks", why, "Rattan sofa", f"{MONEY}49.99", "Approve", "Reject")
    assert [words for words in facts if words not in text] == []
    assert "₱50.01 is sent back to Juan dela Cruz." in text_of(decide(ben, act))
    assert Charge.objects.get().amount_refunded == 5_001


def test_who_asked_who_approved_and_why_stand_in_the_history(api: Api, ana: Client, ben: Client) -> None:
    api.charge()
    acted(ana, "refund", amount="50.01")
    decide(ben, OperatorAction.objects.get())
    entries = AuditEntry.objects.about(OperatorAction.objects.get()).order_by("id")
    assert list(entries.values_list("actor", "action", "reason")) == [
        ("ana", "proposed", REASON),
        ("ben", "approved", NOTE),
        ("ben", "done", REASON),
    ]
    assert {entry.origin for entry in entries} == {"127.0.0.1"}


def test_what_one_person_did_alone_waits_for_nobody_in_the_story(api: Api, ana: Client) -> None:
    api.charge()
    acted(ana, "refund", amount="10")
    text = text_of(ana.get(page_of(Charge.objects.get())))
    assert [f"ana decided to refund {MONEY}10.00" in text, "another person decides" in text] == [True, False]


def test_the_result_leads_to_the_next_hold_that_ends_in_the_same_mode(api: Api, shop: NewMerchant, ben: Client) -> None:
    of_live = make_past_charge(shop.merchant, clock.now() - timedelta(days=6), hold=True).charge
    other, _ = api.held(), api.held(amount=ALONE)
    Charge.objects.filter(pk=of_live.pk).update(livemode=True)
    Charge.objects.update(hold_expires_at=clock.now() + timedelta(hours=1))
    text = acted(ben, "capture")
    pages = [reverse("admin:payments_charge_capture", args=[pk]) for pk in (parse_id("ch", other["id"]), of_live.pk)]
    assert [page in text for page in pages] == [True, False]
    assert f"Next: Capture {MONEY}100.00, Juan dela Cruz, Halo-halo, Sari Store, " in text


def test_the_result_of_a_decision_leads_to_the_next_request(api: Api, ben: Client) -> None:
    api.charge()
    second = proposed()
    api.charge()
    text = text_of(decide(ben, proposed()))
    assert reverse("admin:payments_operatoraction_decide", args=[second.pk]) in text
    assert "Next: " not in text_of(decide(ben, second))


def test_an_approver_reads_what_speaks_for_a_refund(api: Api, ben: Client) -> None:
    api.charge()
    assert looked_at(ben, proposed()) == [
        ("good", "Nothing of this payment was refunded before"),
        ("good", "The bank has not disputed it"),
        ("good", f"The balance of Sari Store covers it: {MONEY}100.00"),
        ("good", "Nothing else went back to this card within 30 days"),
    ]


def test_an_approver_reads_what_speaks_against_a_refund(api: Api, ben: Client) -> None:
    made(api.post(f"/charges/{api.charge()['id']}/refund", {"amount": 9_000}))
    disputed = api.charge(amount=20_000)
    made(api.post(f"/charges/{disputed['id']}/refund", {"amount": 4_000}))
    make_dispute(Charge.objects.latest("id"), amount=1_000)
    made(api.post(f"/charges/{api.charge()['id']}/refund", {"amount": 10_000}))
    act = proposed(charge=Charge.objects.get(pk=parse_id("ch", disputed["id"])))
    assert looked_at(ben, act) == [
        ("warn", f"{MONEY}40.00 of this payment was refunded before"),
        ("warn", "The bank has disputed it: the payer may get the money twice"),
        ("good", f"The balance of Sari Store covers it: {MONEY}160.00"),
        ("warn", f"2 other refunds to this card within 30 days: {MONEY}190.00"),
    ]


def looked_at(client: Client, act: OperatorAction) -> list[tuple[str, str]]:
    text = text_of(client.get(reverse("admin:payments_operatoraction_decide", args=[act.pk])))
    return [(mark, unescape(words)) for mark, words in re.findall(r'<li class="(good|warn)">([^<]*)</li>', text)]


def test_nobody_approves_their_own_not_even_by_a_direct_post(api: Api) -> None:
    api.charge()
    root = client_of("root", "finance")
    act = proposed(proposed_by=person("root", "finance"))
    page = text_of(root.get(reverse("admin:payments_operatoraction_decide", args=[act.pk])))
    assert ("Approve" in page, "Withdraw" in page) == (False, True)
    assert "Nobody decides their own request." in text_of(decide(root, act))
    assert OperatorAction.objects.get().state == "proposed"


def test_a_rejected_request_moves_nothing(api: Api, ben: Client) -> None:
    api.charge()
    assert "No money was moved" in text_of(decide(ben, proposed(), "reject"))
    assert Charge.objects.get().amount_refunded == 0


def test_the_requester_withdraws(api: Api, ana: Client) -> None:
    api.charge()
    act = proposed()
    decide(ana, act, "withdraw")
    act.refresh_from_db()
    assert act.state == "withdrawn"


def test_support_does_not_decide(api: Api, ana: Client) -> None:
    api.charge()
    act = proposed(proposed_by=person("cleo"))
    assert [decide(ana, act, decision).status_code for decision in ("approve", "reject", "withdraw")] == [403] * 3
    assert OperatorAction.objects.get().state == "proposed"


def test_requests_that_wait_for_me_are_not_my_own(api: Api, ben: Client) -> None:
    api.charge()
    of_ana, of_ben = proposed(), proposed(proposed_by=person("ben", "finance"))
    shown = {turn: text_of(ben.get(list_of(OperatorAction), {"turn": turn})) for turn in ("me", "others", "mine")}
    has = {turn: [page_of(act) in text for act in (of_ana, of_ben)] for turn, text in shown.items()}
    assert has == {"me": [True, False], "others": [False, True], "mine": [False, True]}


def test_an_unknown_outcome_leads_to_the_desk(api: Api, ana: Client) -> None:
    api.charge()
    with provider(LosesAnswers()):
        text = acted(ana, "refund", amount="10")
    assert "Asked, and not answered yet" in text


def test_that_a_provider_cannot_be_reached_is_shown(api: Api, ben: Client) -> None:
    api.held()
    with provider(Unreachable()):
        text = acted(ben, "capture")
    assert "could not be reached" in text
    assert Charge.objects.get().authorized


def test_what_the_charge_does_not_allow_is_not_offered(api: Api, ben: Client) -> None:
    api.held()
    text = text_of(ben.get(page_of(Charge.objects.get())))
    assert [page_at(kind) in text for kind in ("capture", "release", "refund", "void")] == [True, True, False, False]
    assert "does not allow this" in text_of(ben.get(page_at("refund"), follow=True))


def test_what_changed_meanwhile_is_not_done(api: Api, ana: Client) -> None:
    charge = api.charge()
    page = asked(ana, "refund", amount="10")
    api.post(f"/charges/{charge['id']}/void")
    assert "does not allow this" in text_of(confirm(ana, "refund", page))
    assert not OperatorAction.objects.exists()


def test_a_viewer_is_offered_nothing(api: Api) -> None:
    api.charge()
    text = text_of(client_of("vera", "viewer").get(page_of(Charge.objects.get())))
    assert page_at("refund") not in text


def test_the_page_of_an_act_leads_to_its_attempt(api: Api, ana: Client) -> None:
    api.charge()
    acted(ana, "refund", amount="10")
    assert page_of(Attempt.objects.latest("id")) in text_of(ana.get(page_of(OperatorAction.objects.get())))


def test_an_administrator_sets_a_limit_in_major_units(db: None) -> None:
    limit = ApprovalLimit.objects.filter(currency="PHP").first()
    admin = client_of("adam", "administrator")
    assert admin.post(page_of(limit), {"amount": "1,234.50"}).status_code == 302
    limit.refresh_from_db()
    assert limit.amount == 123_450
    assert AuditEntry.objects.latest("id").detail == f"{limit.role}: {MONEY}1,234.50, amount: 5,000.00 → 1,234.50"


@pytest.mark.parametrize("role", ["viewer", "support", "finance"])
def test_nobody_else_sets_a_limit(role: str, db: None) -> None:
    client = client_of("eve", role)
    limit = ApprovalLimit.objects.filter(currency="PHP").first()
    assert client.post(page_of(limit), {"amount": "9999999"}).status_code == 403


def test_a_limit_is_added_for_another_currency_and_once(db: None) -> None:
    admin = client_of("adam", "administrator")
    role = person("sue").groups.get(name="support").pk
    added = {"role": role, "currency": "JPY", "amount": "50,000"}
    assert admin.post(list_of(ApprovalLimit) + "add/", added).status_code == 302
    assert ApprovalLimit.objects.get(currency="JPY").amount == 50_000
    assert "errorlist" in text_of(admin.post(list_of(ApprovalLimit) + "add/", added | {"amount": "60,000"}))
    assert ApprovalLimit.objects.get(currency="JPY").amount == 50_000
