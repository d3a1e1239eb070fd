"""What can be done to a charge: when, by which process, and where that process may die."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from payments import clock
from payments.domain.approvals.verbs import VERBS as DECLARED
from payments.domain.charging.state_machine import ChargeState, state_of
from payments.domain.disputes.find import ASKS_FOR_EVIDENCE
from payments.domain.payouts import make
from payments.failpoints import Failpoint
from payments.ids import public_id
from payments.models import Charge, Dispute, OperatorAction, Payout, PayoutSchedule, Webhook
from payments.providers.simulator.models import SimulatedPayment
from payments.providers.simulator.scenarios import Story
from tests.client import made
from tests.faults import approvals, bank_statements
from tests.faults.elapsed_time import let_days_pass_for_payouts, let_pass
from tests.faults.jobs import PayOut, Request, Settle, Visit, deliver, expire, recover, report, respond
from tests.faults.live_payouts import LET_OUT
from tests.faults.processes import Job
from tests.pages.waiting_charges import page_of, path_of
from tests.payouts.stories import give_account, give_schedule

if TYPE_CHECKING:
    from tests.faults.life import Life

OPEN = (Failpoint.OPENING, Failpoint.OPENED)
RECORD = (Failpoint.ASKING, Failpoint.ANSWERED, Failpoint.RECORDING, Failpoint.RECORDED)
ANNOUNCED = (Failpoint.WAKING_WORKER,)
# Where a process may stall, be taken for dead, and continue. One that has not asked yet does not notice that time was
# moved, as if it had just looked at the clock.
UNASKED = (Failpoint.OPENED, Failpoint.ASKING)
STALL = (Failpoint.OPENED, *RECORD)
EXECUTE = (Failpoint.EXECUTING, *OPEN, *RECORD, *ANNOUNCED, Failpoint.EXECUTED)
DELIVER = (Failpoint.CLAIMED, Failpoint.SENT, Failpoint.DELIVERY_RECORDED)
SETTLE = (Failpoint.LOCKED, Failpoint.POSTED, Failpoint.SETTLED)
READ = (Failpoint.CLAIMED, Failpoint.POSTED, Failpoint.SETTLED)
PAY_OUT = (Failpoint.LOCKED, Failpoint.TAKEN, Failpoint.POSTED, Failpoint.SETTLED)
ACTION_SECONDS = 3600
RIGHT_PIN, WRONG_PIN = "123456", "654321"
# The last digits of account numbers to which money is refused, and from which it comes back.
REFUSED, RETURNED = "0002", "0003"


@dataclass(frozen=True)
class Verb:
    """`prepare` brings everything about and returns the job; `steps` are those that the job passes.

    At those of `stalls` it may be taken for dead, and continue afterwards.
    """

    prepare: Callable[["Life"], Job]
    is_possible: Callable[[Charge], bool]
    steps: tuple[Failpoint, ...] = (*OPEN, *RECORD, *ANNOUNCED)
    stalls: tuple[Failpoint, ...] = STALL
    asks_provider: bool = True


def _charge(life: "Life") -> Request:
    body = {
        "amount": life.amount,
        "currency": "PHP",
        "source": public_id("src", life.source_id),
        "description": "Halo-halo",
        "capture": life.capture,
    }
    return life.request("/charges/", body)


def _capture(life: "Life") -> Request:
    return life.request(f"{life.path}/capture", {"amount": life.random.randint(1, life.amount)})


def _void(life: "Life") -> Request:
    return life.request(f"{life.path}/void", {})


def _refund(life: "Life") -> Request:
    charge = life.charge
    left = _left(charge)
    return life.request(f"{life.path}/refund", {"amount": life.random.choice([left, life.random.randint(1, left)])})


def _verify(life: "Life") -> Request:
    assert life.charge.action
    otp = RIGHT_PIN if life.decision == "pay" else WRONG_PIN
    return life.request(f"{life.path}/verify", {"confirmation_id": life.charge.action["confirmation_id"], "otp": otp})


def _authenticate(life: "Life") -> Visit:
    """Decide as the payer on the simulator's page, and then come back."""
    charge = made(life.api.get(life.path))
    life.api.client.post(page_of(charge), {"decision": life.decision})
    payment = SimulatedPayment.objects.get(reference=life.charge.attempts.get(kind="authorize").reference)
    return Visit(path_of(payment.return_url))


def _expire(life: "Life") -> Job:
    Charge.objects.filter(id=life.charge.id).update(hold_expires_at=clock.now())
    return expire


def _overstay(life: "Life") -> Job:
    """Let the payer's hour pass."""
    let_pass(life.source_id, ACTION_SECONDS)
    return recover


def _settle(life: "Life") -> Settle:
    Charge.objects.filter(id=life.charge.id).update(settle_due_at=clock.now())
    return Settle(life.merchant_id)


def _pay_out(life: "Life") -> PayOut:
    _make_payable(life)
    return PayOut(life.merchant_id)


def _read_statement(life: "Life") -> Job:
    """Have a statement of our bank waiting to be read, of what was paid out."""
    if not _was_paid_out(life.charge):
        pay_out = _pay_out(life)
        pay_out()
        # What was made is sent the next time.
        pay_out()
    bank_statements.upload(life)
    return bank_statements.read


def _ask_payout(life: "Life") -> Job:
    _make_payable(life)
    return approvals.call("payout", life)


def _make_payable(life: "Life") -> None:
    """Let a day pass; the merchant has another bank account each time, and some of them send money back."""
    if life.charge.settle_due_at:
        _settle(life)()
    number = life.random.choice(["000123456789", f"00012345{REFUSED}", f"00012345{RETURNED}"])
    give_account(life.shop.merchant, number)
    if not PayoutSchedule.objects.filter(merchant=life.merchant_id, livemode=False).exists():
        give_schedule(life.shop.merchant, "daily", reserve_percent=10, reserve_days=2)
    let_days_pass_for_payouts(life.merchant_id, 1)


def _dispute(life: "Life") -> Job:
    take_next_step(life.charge, life.random)
    return report


def take_next_step(charge: Charge, random: Random) -> None:
    """Have the next step of the payer's bank be due, the first one of a story where none has begun."""
    payment = _payment_of(charge)
    if not payment.filter(dispute_due_at__isnull=False).exists():
        payment.update(story=random.choice(list(Story)), dispute_step=0)
    payment.update(dispute_due_at=clock.now())


def _respond(life: "Life") -> Job:
    """Accept a dispute or defend it; the bank makes one if there is none."""
    if not _has_open_dispute(life.charge):
        _payment_of(life.charge).update(story=Story.AT_ONCE, dispute_step=0, dispute_due_at=clock.now())
        report()
    dispute = _open_disputes(life.charge).get()
    path = f"/disputes/{dispute}"
    if dispute.status == Dispute.Status.NEEDS_RESPONSE and life.decision != "pay":
        made(life.api.post(f"{path}/accept"))
        return respond
    text = life.random.choice(["Signed for", "winning_evidence"])
    made(life.api.post(f"{path}/evidence", {"type": "receipt", "text": text}))
    made(life.api.post(f"{path}/submit"))
    return respond


def _payment_of(charge: Charge) -> QuerySet[SimulatedPayment]:
    return SimulatedPayment.objects.filter(reference=charge.attempts.get(kind="authorize").reference)


def _open_disputes(charge: Charge) -> QuerySet[Dispute]:
    to_answer = Dispute.objects.filter(charge=charge, status__in=ASKS_FOR_EVIDENCE)
    return to_answer.filter(response_state__in=["", "refused", "unknown"])


def _has_open_dispute(charge: Charge) -> bool:
    return _open_disputes(charge).exists()


def can_be_disputed(charge: Charge) -> bool:
    """Whether the story of its payment has not begun, or has another step."""
    is_taken = state_of(charge) in (ChargeState.CAPTURED, ChargeState.SETTLED, ChargeState.REFUNDED)
    return is_taken and _payment_of(charge).filter(Q(story="") | Q(dispute_due_at__isnull=False)).exists()


def _left(charge: Charge) -> int:
    return charge.amount_captured - charge.amount_refunded - charge.amount_disputed


def _is_waiting_for(action: str) -> Callable[[Charge], bool]:
    return lambda charge: bool(charge.action) and charge.action["type"] == action


def _is_held(charge: Charge) -> bool:
    return state_of(charge) is ChargeState.HELD


def _can_be_refunded(charge: Charge) -> bool:
    return state_of(charge) in (ChargeState.CAPTURED, ChargeState.SETTLED) and _left(charge) > 0


def _can_be_voided(charge: Charge) -> bool:
    is_voidable = state_of(charge) in (ChargeState.HELD, ChargeState.CAPTURED)
    return is_voidable and not charge.amount_refunded and not charge.disputed


def _has_to_pay_out(charge: Charge) -> bool:
    """Whether a day later there is something in the balance, beside what is kept of it.

    What is still to be settled may take it away, and what is in reserve may have to wait for longer.
    """
    schedule = PayoutSchedule.objects.filter(merchant=charge.merchant_id, livemode=False).first()
    if schedule is None or charge.settled_at is None or charge.settle_due_at is not None:
        return False
    total = make.payable(schedule, clock.now() + timedelta(days=1))
    return total - make.reserve_of(schedule, total) >= 1


def _was_paid_out(charge: Charge) -> bool:
    return Payout.objects.filter(merchant=charge.merchant_id, sent_at__isnull=False).exists()


def _is_untold(charge: Charge) -> bool:
    return Webhook.objects.filter(merchant_id=charge.merchant_id, due_at__lte=clock.now()).exists()


def _approval(request: Callable[[str, "Life"], Job], kind: str) -> Verb:
    """Return the verb of what is requested, decided and executed, where the charge allows this kind."""
    stalls = (*STALL, Failpoint.EXECUTED)
    return Verb(partial(request, kind), lambda charge: DECLARED[kind].most(charge) > 0, EXECUTE, stalls)


VERBS = {
    "charge": Verb(_charge, lambda charge: False),
    "capture": Verb(_capture, _is_held),
    "void": Verb(_void, _can_be_voided),
    "refund": Verb(_refund, _can_be_refunded),
    "authenticate": Verb(_authenticate, _is_waiting_for("redirect_to_url")),
    "overstay": Verb(_overstay, lambda charge: bool(charge.action), (*RECORD, *ANNOUNCED), stalls=RECORD),
    "expire": Verb(_expire, _is_held),
    "verify": Verb(_verify, _is_waiting_for("verify_otp")),
    "recover": Verb(lambda life: recover, lambda charge: False, (*RECORD, *ANNOUNCED), stalls=RECORD),
    "deliver": Verb(lambda life: deliver, _is_untold, DELIVER, stalls=DELIVER, asks_provider=False),
    "dispute": Verb(
        _dispute,
        can_be_disputed,
        (Failpoint.RECORDING, Failpoint.RECORDED, *ANNOUNCED),
        stalls=(Failpoint.RECORDING, Failpoint.RECORDED),
        asks_provider=False,
    ),
    "respond": Verb(_respond, _has_open_dispute, (*RECORD, *ANNOUNCED), stalls=RECORD),
    "settle": Verb(
        _settle,
        lambda charge: charge.settle_due_at is not None,
        SETTLE,
        stalls=(Failpoint.SETTLED,),
        asks_provider=False,
    ),
    "pay_out": Verb(
        _pay_out,
        lambda charge: charge.settled_at is not None,
        PAY_OUT,
        stalls=(Failpoint.SETTLED,),
        asks_provider=False,
    ),
    "read_statement": Verb(
        _read_statement,
        _was_paid_out,
        READ,
        stalls=(Failpoint.CLAIMED, Failpoint.SETTLED),
        asks_provider=False,
    ),
    "ask_payout": Verb(
        _ask_payout,
        _has_to_pay_out,
        (Failpoint.EXECUTING, Failpoint.TAKEN, Failpoint.EXECUTED),
        stalls=(Failpoint.EXECUTED,),
        asks_provider=False,
    ),
    **{
        f"let_out_{what}": Verb(
            prepare, lambda charge: charge.settled_at is not None, (Failpoint.LET_OUT,), stalls=(), asks_provider=False
        )
        for what, prepare in LET_OUT.items()
    },
    **{f"approve_{kind}": _approval(approvals.act, kind) for kind in OperatorAction.KINDS},
    **{f"ask_{tool}": _approval(approvals.call, tool) for tool in ("capture", "void", "refund")},
}


def possible(charge: Charge) -> list[str]:
    """Return what may be done next to `charge`."""
    return [name for name, verb in VERBS.items() if verb.is_possible(charge)]
