"""Payers' banks that dispute charges, in any order of reports, and the merchant's responses."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from payments.domain.disputes.record import CannotBeTrue, NotNow
from payments.providers.base import Approved, Rejected
from tests.charging.doubles import Double, lost_by_error, provider
from tests.client import made
from tests.machine.comparison import check_refused
from tests.machine.dispute_model import ORDER, REFUSED, UNANSWERED, Dispute
from tests.machine.history import DISPUTE_FEE, one_of
from tests.machine.machine import Machine, charges_like, has_charges
from tests.machine.model import Charge

# Most begin as they do in life; the others in any order.
stages = st.sampled_from(["inquiry", "notice", "chargeback", "chargeback"]) | st.sampled_from(ORDER)
disputable = charges_like(lambda charge: charge.stage == "captured")
FOLLOWS = ("refund", "void", "response", "lost response", "chargeback", "reversed")
RESPONDS = {
    # Whatever the books of the simulator say.
    "": lambda _, asked: Approved(asked.provider_ref),
    REFUSED: Rejected("too_late", "The bank has decided."),
    UNANSWERED: lost_by_error,
}
has_disputes = precondition(lambda history: history.disputes())
any_dispute = one_of(
    lambda history: history.disputes() + 4 * [each for each in history.disputes() if each.takes_response]
)


class DisputingMachine(Machine):
    """All of the machine, with disputes."""

    def disputes(self) -> list[Dispute]:
        return [charge.dispute for charge in self.charges if charge.dispute]

    @has_charges
    @rule(charge=disputable, stage=stages, percent=st.integers(1, 120))
    def report_dispute(self, charge: Charge, stage: str, percent: int) -> None:
        """Each stage is about an amount of its own, which may be more than was captured."""
        amount = max(1, charge.amount_captured * percent // 100)
        refusal = charge.refuses_dispute()
        if refusal:
            expected = NotNow if refusal == "not now" else CannotBeTrue
            try:
                self.time.dispute(charge.name, stage, amount, 0)
            except expected:
                return
            raise AssertionError(f"a dispute of a charge that is {charge.stage}")
        if charge.dispute is None:
            charge.dispute = Dispute(amount, DISPUTE_FEE, stage, charge.amount_captured)
        charge.dispute.report(stage, amount)
        self.time.dispute(charge.name, stage, amount, charge.amount_disputed)
        [answer] = made(self.api.get("/disputes/", charge=charge.name))["data"]
        charge.dispute.name = answer["id"]

    @has_charges
    @rule(charge=disputable, stage=stages, percent=st.integers(50, 100), what=st.sampled_from(FOLLOWS))
    def report_dispute_before(self, charge: Charge, stage: str, percent: int, what: str) -> None:
        """Have a step follow at once, which chance alone seldom brings together."""
        self.report_dispute(charge, stage, percent)
        if what == "refund":
            self.refund(charge, None, "")
        elif what == "void":
            self.void(charge, "")
        elif what == "reversed":
            self.report_dispute(charge, "chargeback", percent)
            self.report_dispute(charge, "reversed", percent // 2)
        elif charge.dispute:
            self.add_evidence(charge.dispute)
            self.submit(charge.dispute)
            for fate in (UNANSWERED, REFUSED) if what == "lost response" else ("",):
                self.send_responses(fate)
        if what == "chargeback":
            self.report_dispute(charge, "chargeback", percent)

    @has_disputes
    @rule(dispute=any_dispute)
    def add_evidence(self, dispute: Dispute) -> None:
        body = {"type": "other", "text": f"Piece {dispute.evidence}"}
        response = self.post(f"/disputes/{dispute.name}/evidence", body)
        self.responded(response, dispute.add_evidence())

    @has_disputes
    @rule(dispute=any_dispute)
    def submit(self, dispute: Dispute) -> None:
        self.responded(self.post(f"/disputes/{dispute.name}/submit"), dispute.submit())

    @has_disputes
    @rule(dispute=any_dispute)
    def accept(self, dispute: Dispute) -> None:
        self.responded(self.post(f"/disputes/{dispute.name}/accept"), dispute.accept())

    @precondition(lambda history: any(each.response_state == "pending" for each in history.disputes()))
    @rule(fate=st.sampled_from(["", REFUSED, UNANSWERED]))
    def send_responses(self, fate: str) -> None:
        with provider(Double(respond=RESPONDS[fate])):
            self.time.send_responses()
        for dispute in self.disputes():
            dispute.send(fate)

    def responded(self, response: Any, refusal: str) -> None:
        if refusal:
            check_refused(response, refusal)
        else:
            made(response)

    @invariant()
    def disputes_are_as_in_the_model(self) -> None:
        answers = made(self.api.get("/disputes/", limit=100))["data"]
        self.events.read_on()
        shown = {answer["id"]: _shown(answer) for answer in answers}
        assert shown == {dispute.name: _expected(dispute) for dispute in self.disputes()}
        last = {name: _shown(self.events.last[name]["data"]["object"]) for name in shown}
        assert last == shown


def _expected(dispute: Dispute) -> dict[str, Any]:
    return {
        "amount": dispute.amount,
        "status": dispute.status,
        "withdrawn": dispute.withdrawn,
        "amount_withdrawn": dispute.amount_withdrawn,
        "fee": dispute.fee if dispute.withdrawn else 0,
        "response": (dispute.response, dispute.response_state),
    }


def _shown(answer: dict[str, Any]) -> dict[str, Any]:
    response = answer.get("response", {"type": "", "status": ""})
    members = {name: answer[name] for name in ("amount", "status", "withdrawn", "amount_withdrawn", "fee")}
    return members | {"response": (response["type"], response["status"])}
