"""What operators propose about unknown outcomes, and how they are approved."""

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from payments.ids import public_id
from payments.models import Attempt, AuditEntry, Charge, Correction
from tests.admin.conftest import client_of, text_of
from tests.admin.test_pages import list_of, page_of
from tests.admin.test_unknown_outcomes import desk_page, look_up_at, propose_at
from tests.charging.elapsed_time import recover
from tests.client import APPROVED, Api
from tests.operators.corrections import EVIDENCE, NOTE, proposed, unknown_payment

pytestmark = pytest.mark.long

State = Correction.State
FORM = {"outcome": "approved", "provider_ref": "psp_77", "decline_code": "", "evidence": EVIDENCE}
LOOK = ("view_unknownoutcome", "view_attempt", "view_correction")


def decide_at(correction: Correction) -> str:
    return reverse("admin:payments_correction_decide", args=[correction.pk])


def decide(client: Client, correction: Correction, decision: str = "approve", note: str = NOTE) -> HttpResponse:
    return client.post(decide_at(correction), {"decision": decision, "note": note}, follow=True)


def state_of(correction: Correction) -> str:
    return Correction.objects.values_list("state", flat=True).get(pk=correction.pk)


def test_one_proposes_and_another_approves(unknown: Attempt, ana: Client, ben: Client) -> None:
    assert propose_at(unknown) in text_of(ana.get(desk_page(unknown)))
    assert "Another person must approve it." in text_of(ana.post(propose_at(unknown), FORM, follow=True))
    correction = Correction.objects.get()
    assert decide_at(correction) in text_of(ben.get(desk_page(unknown)))
    page = text_of(ben.get(decide_at(correction)))
    assert [word for word in (EVIDENCE, "psp_77", "ana", "Approve and record", "Reject") if word not in page] == []
    assert "Approved and recorded." in text_of(decide(ben, correction))
    assert Charge.objects.get().status == "succeeded"
    decided = Correction.objects.get()
    assert (decided.state, decided.proposed_by.username, decided.decided_by.username, decided.note) == (
        "done",
        "ana",
        "ben",
        NOTE,
    )


def test_every_act_stands_in_the_history_with_what_and_why(unknown: Attempt, ana: Client, ben: Client) -> None:
    ana.post(propose_at(unknown), FORM)
    decide(ben, Correction.objects.get(), "reject", "Line 7 is another shop's")
    ana.post(propose_at(unknown), FORM)
    decide(ana, Correction.objects.latest("pk"), "withdraw", "Misread")
    entries = AuditEntry.objects.about(*Correction.objects.all()).order_by("id")
    assert list(entries.values_list("actor", "action", "detail", "reason")) == [
        ("ana", "proposed", "approved (psp_77)", EVIDENCE),
        ("ben", "rejected", "approved (psp_77)", "Line 7 is another shop's"),
        ("ana", "proposed", "approved (psp_77)", EVIDENCE),
        ("ana", "withdrawn", "approved (psp_77)", "Misread"),
    ]
    history = text_of(ana.get(reverse("admin:payments_attempt_history", args=[unknown.pk])))
    assert EVIDENCE in history


def test_nobody_approves_their_own_not_even_by_a_direct_post(unknown: Attempt, ana: Client) -> None:
    correction = proposed(unknown)
    page = text_of(ana.get(decide_at(correction)))
    assert ("Approve and record" in page, "Withdraw" in page) == (False, True)
    for decision in ("approve", "reject"):
        assert "Nobody decides their own request." in text_of(decide(ana, correction, decision))
    assert state_of(correction) == State.PROPOSED
    assert Charge.objects.get().status == "pending"
    assert [entry.action for entry in AuditEntry.objects.about(correction)] == ["proposed"]


def test_an_approval_that_a_lookup_overtook_is_shown(unknown: Attempt, ben: Client) -> None:
    correction = proposed(unknown, "declined")
    recover()
    text = text_of(decide(ben, correction))
    assert "own answer came first, and nothing was changed." in text
    assert state_of(correction) == State.OVERTAKEN
    assert Charge.objects.get().status == "succeeded"


def test_an_operator_who_may_propose_does_not_approve(unknown: Attempt) -> None:
    correction = proposed(unknown)
    proposer = client_of("proposer", *LOOK, "propose_correction")
    assert decide(proposer, correction).status_code == 403
    assert state_of(correction) == State.PROPOSED


def test_an_operator_who_may_approve_does_not_propose_or_look_up(unknown: Attempt) -> None:
    approver = client_of("approver", *LOOK, "approve_correction")
    assert approver.post(propose_at(unknown), FORM).status_code == 403
    assert approver.post(look_up_at(unknown)).status_code == 403
    assert "Approved and recorded." in text_of(decide(approver, proposed(unknown)))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"evidence": ""}, "This field is required."),
        ({"evidence": "x" * 2001}, "at most 2000 characters"),
        ({"outcome": ""}, "This field is required."),
        ({"provider_ref": ""}, "An approval needs the provider&#x27;s reference"),
        ({"decline_code": "card_declined"}, "An approval needs the provider&#x27;s reference"),
        ({"decline_code": "bad_luck"}, "Select a valid choice."),
    ],
    ids=str,
)
def test_a_proposal_that_does_not_hold_together_is_refused(
    changed: dict[str, str], message: str, unknown: Attempt, ana: Client
) -> None:
    assert message in text_of(ana.post(propose_at(unknown), FORM | changed))
    assert not Correction.objects.exists()


def test_a_second_proposal_is_refused_while_one_is_open(unknown: Attempt, ana: Client, ben: Client) -> None:
    proposed(unknown)
    assert "open request about this" in text_of(ben.post(propose_at(unknown), FORM))
    assert Correction.objects.count() == 1


@pytest.mark.parametrize("field", ["evidence", "provider_ref"])
def test_a_pasted_card_number_is_refused_and_neither_kept_nor_shown(field: str, unknown: Attempt, ana: Client) -> None:
    text = text_of(ana.post(propose_at(unknown), FORM | {field: APPROVED}))
    assert "This looks like" in text
    assert APPROVED not in text
    assert not Correction.objects.exists()
    assert not AuditEntry.objects.filter(action="proposed").exists()


def test_a_card_number_in_a_note_is_refused_and_neither_kept_nor_shown(unknown: Attempt, ben: Client) -> None:
    correction = proposed(unknown)
    text = text_of(decide(ben, correction, note=f"He paid with {APPROVED}"))
    assert "This looks like" in text
    assert APPROVED not in text
    assert state_of(correction) == State.PROPOSED


def test_corrections_are_found_by_the_ids_of_what_they_are_about(unknown: Attempt, api: Api, ana: Client) -> None:
    correction, other = proposed(unknown), proposed(unknown_payment(api))
    for term in (public_id("ch", unknown.charge_id), unknown.reference, str(correction.pk)):
        text = text_of(ana.get(list_of(Correction), {"q": term}))
        assert page_of(correction) in text, term
        assert page_of(other) not in text, term


def test_evidence_is_text(unknown: Attempt, ana: Client) -> None:
    correction = proposed(unknown, reason="<script>alert(1)</script>")
    for page in (decide_at(correction), page_of(correction)):
        assert "<script>alert" not in text_of(ana.get(page))


def test_a_correction_is_not_edited(unknown: Attempt, ben: Client) -> None:
    correction = proposed(unknown)
    assert ben.post(page_of(correction), {"state": "approved", "evidence": "None"}).status_code == 403
    assert state_of(correction) == State.PROPOSED


def test_an_operator_who_may_only_look_does_nothing(unknown: Attempt) -> None:
    looker = client_of("looker", *LOOK)
    correction = proposed(unknown)
    for page in (desk_page(unknown), page_of(correction)):
        text = text_of(looker.get(page))
        assert [act for act in ("Look up now", "Propose an outcome", "Decide the request") if act in text] == []
    assert looker.post(look_up_at(unknown)).status_code == 403
    assert looker.post(propose_at(unknown), FORM).status_code == 403
    assert looker.get(propose_at(unknown)).status_code == 403
    assert decide(looker, correction).status_code == 403
    assert looker.get(decide_at(correction)).status_code == 403
    assert (state_of(correction), Charge.objects.get().status) == (State.PROPOSED, "pending")
