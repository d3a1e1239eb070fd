"""What holds for each kind of request: who decides and withdraws it, with what note, and until when."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from payments import clock
from payments.admin.approvals.words import WORDS
from payments.domain.approvals import decide, executors, payouts
from payments.domain.approvals.verbs import TOOLS
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.inbox.decisions import MAY_DECIDE, OF_SERVICE
from payments.mcp.money import FORMS
from payments.models import ApprovalRequest, AuditEntry, Merchant
from tests.approvals.factories import REASON, requested_account, requested_key
from tests.charging.elapsed_time import let_time_pass
from tests.client import APPROVED, Api
from tests.operators import corrections, factories
from tests.operators.corrections import NOTE, operator, unknown_payment
from tests.payouts.live import stored_file
from tests.payouts.setups import live_payout
from tests.reconciliation.layouts.stories import requested_layout
from tests.routing.doubles import KEY

pytestmark = pytest.mark.django_db
REQUESTED: dict[str, Callable[[Api, NewMerchant], ApprovalRequest]] = {
    "action": lambda api, _: api.charge() and factories.proposed(),
    "correction": lambda api, _: corrections.proposed(unknown_payment(api)),
    "key": lambda _, shop: requested_key(shop.merchant),
    "payout": lambda _, shop: live_payout(shop.merchant, 1, operator("ana")) and ApprovalRequest.objects.get(),
    "file": lambda *_: payouts.ask_for(stored_file(), operator("ana"), REASON),
    "layout": lambda *_: requested_layout(),
    "account": lambda _, shop: requested_account(shop.merchant, {"key": KEY}),
}
VERBS = pytest.mark.parametrize("verb", [decide.approve, decide.reject], ids=["approve", "reject"])


@pytest.fixture(params=REQUESTED)
def request_of_ana(request: Any, api: Api, shop: NewMerchant) -> ApprovalRequest:
    return REQUESTED[request.param](api, shop)


def test_every_kind_has_its_words_its_executor_and_those_who_see_it() -> None:
    assert WORDS.keys() == {*ApprovalRequest.KINDS}
    assert executors._EXECUTORS.keys() == OF_SERVICE.keys() == MAY_DECIDE.keys() == {*ApprovalRequest.Kind}


def test_every_tool_that_moves_money_has_its_arguments() -> None:
    assert TOOLS.keys() == FORMS.keys()


# Two kinds with the same consequence: of a new thing, and of a changed or rolled one.
ALIKE = {
    ApprovalRequest.Kind.ROLL_KEY: ApprovalRequest.Kind.ISSUE_KEY,
    ApprovalRequest.Kind.CHANGE_ACCOUNT: ApprovalRequest.Kind.ADD_ACCOUNT,
    ApprovalRequest.Kind.CHANGE_ROUTE: ApprovalRequest.Kind.ADD_ROUTE,
}


def test_an_approver_reads_no_other_kinds_sentence() -> None:
    own = {kind: words.consequence for kind, words in WORDS.items() if kind not in ALIKE}
    assert len({*own.values()}) == len(own)
    assert all(WORDS[kind].consequence is own[other] for kind, other in ALIKE.items())


def stored() -> ApprovalRequest:
    return ApprovalRequest.objects.get()


@pytest.mark.long
@VERBS
def test_nobody_decides_their_own_not_even_a_superuser(
    verb: Callable[[ApprovalRequest, User, str], None], request_of_ana: ApprovalRequest
) -> None:
    ana = request_of_ana.proposed_by
    ana.is_superuser = True
    with pytest.raises(Refused, match="own request"):
        verb(request_of_ana, ana, NOTE)
    assert stored().state == "proposed"


def test_nor_does_the_database_let_them(request_of_ana: ApprovalRequest) -> None:
    decision = {"decided_by": request_of_ana.proposed_by, "decided_at": clock.now(), "note": NOTE}
    with pytest.raises(IntegrityError, match="decided_by_another"), transaction.atomic():
        ApprovalRequest.objects.update(state="rejected", sealed_credentials=None, **decision)


def test_the_database_takes_a_request_of_no_merchant_about_a_bank_file_alone(request_of_ana: ApprovalRequest) -> None:
    owner = None if request_of_ana.merchant else Merchant.objects.first()
    with pytest.raises(IntegrityError, match="of_a_merchant_or_a_bank_file"), transaction.atomic():
        ApprovalRequest.objects.update(merchant=owner)


@pytest.mark.long
@VERBS
@pytest.mark.parametrize(
    ("note", "refusal"), [(" ", Refused), (f"seen {APPROVED}", ValidationError)], ids=["empty", "a card number"]
)
def test_a_decision_needs_a_note_without_a_card_number(
    verb: Callable[[ApprovalRequest, User, str], None],
    note: str,
    refusal: type[Exception],
    request_of_ana: ApprovalRequest,
) -> None:
    with pytest.raises(refusal):
        verb(request_of_ana, operator("cleo"), note)
    assert (stored().state, stored().note) == ("proposed", "")


def test_what_is_rejected_is_neither_approved_nor_withdrawn(request_of_ana: ApprovalRequest) -> None:
    decide.reject(request_of_ana, operator("cleo"), NOTE)
    for verb, person in ((decide.approve, operator("dora")), (decide.withdraw, request_of_ana.proposed_by)):
        with pytest.raises(Refused, match="no longer open"):
            verb(request_of_ana, person, NOTE)
    assert (stored().state, stored().sealed_credentials) == ("rejected", None)


def test_the_requester_alone_may_withdraw(request_of_ana: ApprovalRequest) -> None:
    with pytest.raises(Refused, match="Only the requester may"):
        decide.withdraw(request_of_ana, operator("cleo"), NOTE)
    decide.withdraw(request_of_ana, request_of_ana.proposed_by, "A mistake")
    assert (stored().state, stored().sealed_credentials) == ("withdrawn", None)
    entry = AuditEntry.objects.about(request_of_ana).latest("id")
    assert (entry.action, entry.reason) == ("withdrawn", "A mistake")


def test_undecided_it_expires(request_of_ana: ApprovalRequest) -> None:
    let_time_pass(ApprovalRequest, "expires_at")
    for verb in (decide.approve, decide.reject):
        with pytest.raises(Refused, match="it has expired"):
            verb(request_of_ana, operator("cleo"), NOTE)
    assert decide.expire() == 1
    assert (stored().state, stored().sealed_credentials) == ("expired", None)
    assert AuditEntry.objects.about(request_of_ana).latest("id").action == "expired"


def test_decided_it_does_not_expire(request_of_ana: ApprovalRequest) -> None:
    decide.reject(request_of_ana, operator("cleo"), NOTE)
    let_time_pass(ApprovalRequest, "expires_at")
    assert decide.expire() == 0
