"""What one person requests and another decides, through any crash: it is executed once, by the worker if need be."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import QuerySet

from payments.domain.approvals import decide
from payments.domain.approvals.execution import request_of
from payments.domain.approvals.request import ask
from payments.domain.approvals.verbs import VERBS
from payments.domain.charging.late_outcomes import LATE
from payments.domain.shared.verbs import Call
from payments.models import ApiKey, ApprovalRequest, Attempt, OperatorAction, Payout, PayoutFile
from payments.providers.base import Approved
from payments.providers.simulator.models import SimulatedOperation
from tests.faults.processes import Job
from tests.mcp.assistant import Assistant
from tests.operators.factories import ALONE, NOTE, done, person, proposed

if TYPE_CHECKING:
    from tests.faults.life import Life

State = ApprovalRequest.State
# Up to ALONE no person decides, neither what an operator requests nor what an assistant asks for.
RULES = [f"{tool} PHP {ALONE // 100}.00 999999.00" for tool in ("capture", "void", "refund", "payout")]


class Approval:
    """What was requested is approved by another person, unless it is already, and is executed."""

    def request(self) -> Any:
        """Return the request as it is now."""
        raise NotImplementedError

    def __call__(self) -> None:
        request = self.request()
        if request.state == State.PROPOSED:
            decide.approve(request, person("ben", "finance"), NOTE)
        if request.state == State.APPROVED:
            done(request)


@dataclass(frozen=True)
class Decide(Approval):
    """An operator's action on a charge."""

    request_id: UUID

    def request(self) -> Any:
        return ApprovalRequest.objects.get(id=self.request_id)


class LetOut(Decide):
    """A payout or a bank file goes out in the transaction of the approval, which leaves nothing to the worker."""


@dataclass(frozen=True)
class Ask(Approval):
    """A call of an assistant, asked for by its program as often as it likes."""

    key_id: UUID
    call: Call
    idempotency_key: str

    def request(self) -> Any:
        return ask(ApiKey.objects.get(id=self.key_id), self.call, self.idempotency_key, "The payer asked.")


def act(kind: str, life: "Life") -> Job:
    """Request an action of this kind as an operator."""
    charge = life.charge
    return Decide(proposed(kind, _amount(kind, VERBS[kind].most(charge), life), charge=charge).id)


def call(tool: str, life: "Life") -> Job:
    """Ask for a charge's capture, void or refund, or for a payout, as an assistant."""
    merchant = life.shop.merchant
    key = ApiKey.objects.filter(merchant=merchant, kind=ApiKey.Kind.ASSISTANT).first()
    body: dict[str, Any] = {"currency": "PHP"} if tool == "payout" else {}
    if VERBS[tool].in_parts:
        body["amount"] = _amount(tool, VERBS[tool].most(life.charge), life)
    about = "" if tool == "payout" else str(life.charge)
    key = key or Assistant(merchant, RULES).key
    return Ask(key.id, Call(tool, about, body), life.new_key())


def _amount(kind: str, most: int, life: "Life") -> int:
    return life.random.randint(1, most) if VERBS[kind].in_parts else most


def faults(approval: Approval) -> Iterator[tuple[str, str]]:
    """Yield what must never be of a request that was decided, a class and a line each.

    It is done where the provider was asked, whose answer its attempt has. It is refused where nothing could be asked.
    """
    request = approval.request()
    if request.state == State.REFUSED and request.code != "provider_unavailable":
        yield "refused", f"{request} was refused: {request.code}"
    elif request.state not in (State.DONE, State.REFUSED):
        yield "lost", f"{request} was decided, and is {request.state}"
    moved, arrived = list(_moved(request)), _arrived(request)
    if moved != [request.amount] * arrived:
        yield "double", f"{request} is {request.state}, and moved {moved}"


def _arrived(request: Any) -> int:
    """Return how often the request may have moved something: once at most."""
    if request.charge_id is None:
        return int(request.state == State.DONE)
    outcomes = [attempt.outcome for attempt in _attempts(request)]
    # Days that came late, from a process that was given up, are not taken back: the next had asked for them again.
    most = 1 + outcomes.count(LATE) if request.kind == OperatorAction.Kind.EXTEND else 1
    return min(most, sum(outcome in (Approved.__name__, LATE) for outcome in outcomes))


def _moved(request: Any) -> Any:
    """Return the amounts that the provider has moved for the request, or those of payouts made since or let out."""
    if request.kind == ApprovalRequest.Kind.PAY_OUT:
        return Payout.objects.filter(approval=request.id).values_list("amount", flat=True)
    if request.kind == ApprovalRequest.Kind.SEND_FILE:
        return PayoutFile.objects.filter(id=request.subject_id).exclude(sent_at=None).values_list("total", flat=True)
    if request.charge_id is None:
        made = Payout.objects.filter(merchant=request.merchant_id, created_at__gte=request.created_at)
        return made.values_list("amount", flat=True)
    references = [attempt.reference for attempt in _attempts(request)]
    asked = SimulatedOperation.objects.filter(reference__in=references).exclude(state__in=("refused", "failed"))
    return asked.values_list("amount", flat=True)


def _attempts(request: Any) -> QuerySet[Attempt]:
    return Attempt.objects.filter(charge=request.charge_id, request_id=request_of(request))
