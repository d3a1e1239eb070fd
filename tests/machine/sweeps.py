"""Time that passes for one merchant, and the sweeps that then run."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from payments import clock
from payments.domain.charging import attempts, expiry, recovery
from payments.domain.disputes import record, respond
from payments.domain.payouts import make, send, terms
from payments.domain.payouts import states as payout_states
from payments.domain.payouts.terms import Terms
from payments.ids import new_id, parse_id
from payments.ledger import settlement
from payments.models import Attempt, Charge, Dispute, Merchant, Payout, PayoutPart, PayoutSchedule
from payments.providers.disputes import Disputed, Stage
from payments.providers.simulator.models import Entry, SimulatedOperation, SimulatedPayment, SimulatedPayout
from payments.sweeps.scope import Scope
from payments.tasks import run_sweep
from tests.payouts.stories import give_account


class Time:
    """Moves deadlines of a merchant's objects into the past; nobody else's are due in the database."""

    def __init__(self, merchant: Merchant) -> None:
        self._merchant = merchant
        self._charges = Charge.objects.filter(merchant=merchant)
        self._attempts = Attempt.objects.filter(charge__merchant=merchant)

    def receive_reports(self) -> None:
        """Let the provider report what has happened."""
        run_sweep("apply_simulator_messages")

    def look_up(self) -> None:
        """All lookups are due."""
        _pass(self._attempts, "due_at")
        recovery.resolve_due()

    def end_action(self, charge_id: str) -> None:
        """Our hour for the payer is over."""
        _pass(self._charges.filter(id=parse_id("ch", charge_id)), "action_expires_at")
        _pass(self._attempts.filter(charge_id=parse_id("ch", charge_id)), "due_at")
        recovery.expire_actions()

    def end_page(self, charge_id: str) -> None:
        """Let the provider's hour for the payer end, before ours."""
        _pass(self._payments(charge_id), "expires_at")

    def end_hold(self, charge_id: str) -> None:
        """End the days of the hold."""
        _pass(self._charges.filter(id=parse_id("ch", charge_id)), "hold_expires_at")
        expiry.void_expired_holds()

    def end_refunds(self) -> None:
        """Let the provider end all refunds."""
        references = [attempt.reference for attempt in self._attempts.filter(kind="refund")]
        _pass(SimulatedOperation.objects.filter(reference__in=references), "settles_at")

    def settle(self) -> None:
        """End the day of what was captured; what settles now is of a day that is not over."""
        _pass(self._charges.filter(livemode=False), "settle_due_at")
        settlement.settle_due(scope=self._scope())
        self._settlements().update(payable_at=settlement.next_settlement_at(clock.now()))

    def settle_live(self, days_ago: int) -> None:
        """Settle as it was done some days ago; in live mode, a day is never over sooner than it is."""
        then = clock.now() - timedelta(days=days_ago)
        self._charges.filter(livemode=True, settle_due_at__isnull=False).update(settle_due_at=then)
        with clock.at(then):
            settlement.settle_due(scope=self._scope(livemode=True))

    def dispute(self, charge_id: str, stage: str, amount: int, withdrawn: int) -> None:
        """Have the provider report a stage, after which the bank has `withdrawn`. Raise CannotBeTrue, NotNow."""
        attempt = self._attempts.get(charge_id=parse_id("ch", charge_id), kind="authorize")
        record.record(attempts.reload(attempt), Disputed("D1", Stage[stage.upper()], amount, attempt.charge.currency))
        payment = self._payments(charge_id).get()
        if moved := withdrawn - payment.amount_disputed:
            kind = Entry.Kind.DISPUTE if moved > 0 else Entry.Kind.DISPUTE_WON
            # The books have one entry of a kind under a name: what moves again has a name of its own.
            is_again = Entry.objects.filter(payment=payment, kind=kind).exists()
            reference = new_id().hex if is_again else payment.reference
            Entry.objects.create(payment=payment, reference=reference, kind=kind, amount=abs(moved))
            self._payments(charge_id).update(amount_disputed=withdrawn)

    def send_responses(self) -> None:
        """All responses are due."""
        _pass(Dispute.objects.filter(merchant=self._merchant), "response_due_at")
        respond.send_due()

    def set_account(self, number: str, livemode: bool = False) -> None:
        give_account(self._merchant, number, livemode=livemode)

    def set_schedule(self, reserve_percent: int, livemode: bool = False) -> PayoutSchedule:
        """Set a daily schedule, which runs when `run_schedule` lets it."""
        kept = Terms("daily", reserve_percent=reserve_percent, reserve_days=30 if reserve_percent else 0)
        return terms.set_schedule(self._merchant, livemode, "PHP", kept)

    def end_settlement(self) -> None:
        """End the day of what has settled."""
        _pass(self._settlements(), "payable_at")

    def run_schedule(self, schedule: PayoutSchedule) -> None:
        _pass(PayoutSchedule.objects.filter(id=schedule.id), "next_at")
        make.make_due(scope=self._scope(schedule.livemode))

    def payout(self, payout_id: str) -> Payout:
        """Return a payout as it is now."""
        return Payout.objects.select_related("account").get(id=parse_id("po", payout_id))

    def send_payouts(self) -> None:
        """All payouts are due to be sent or looked up."""
        _pass(self._payouts(), "due_at")
        send.send_due(scope=self._scope())

    def end_bank_day(self) -> None:
        """End a day of the simulated bank."""
        references = [payout_id.hex for payout_id in self._payouts().values_list("id", flat=True)]
        _pass(SimulatedPayout.objects.filter(reference__in=references), "due_at")

    def release_reserves(self, livemode: bool) -> None:
        """End the days of all reserves."""
        _pass(Payout.objects.filter(merchant=self._merchant, livemode=livemode), "reserve_due_at")
        payout_states.release_reserves(scope=self._scope(livemode))

    def _scope(self, livemode: bool = False) -> Scope:
        return Scope(self._merchant.id, livemode)

    def _settlements(self) -> QuerySet[PayoutPart]:
        return PayoutPart.objects.filter(
            merchant=self._merchant, livemode=False, is_settlement=True, payout__isnull=True
        )

    def _payouts(self) -> QuerySet[Payout]:
        return Payout.objects.filter(merchant=self._merchant, livemode=False)

    def return_path(self, charge_id: str) -> str:
        """Where the charge's payer comes back to."""
        return "/" + self._payments(charge_id).get().return_url.split("/", 3)[3]

    def _payments(self, charge_id: str) -> QuerySet[SimulatedPayment]:
        attempt = self._attempts.get(charge_id=parse_id("ch", charge_id), kind="authorize")
        return SimulatedPayment.objects.filter(reference=attempt.reference)


def _pass(rows: QuerySet[Any], deadline: str) -> None:
    rows.filter(**{f"{deadline}__isnull": False}).update(**{deadline: clock.now() - timedelta(seconds=1)})
