"""Time that passes for one merchant, and the sweeps that then run."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from payments import clock, tasks
from payments.domain import settlement
from payments.domain.charging import attempts, expiry, recovery
from payments.domain.disputes import record, respond
from payments.ids import parse_id
from payments.models import Attempt, Charge, Dispute, Merchant
from payments.providers.disputes import Disputed, Stage
from payments.providers.simulator.models import Entry, SimulatedOperation, SimulatedPayment


class Time:
    """Moves deadlines of a merchant's objects into the past; nobody else's are due in the database."""

    def __init__(self, merchant: Merchant) -> None:
        self._merchant = merchant
        self._charges = Charge.objects.filter(merchant=merchant)
        self._attempts = Attempt.objects.filter(charge__merchant=merchant)

    def receive_reports(self) -> None:
        """Let the provider report what has happened."""
        tasks.apply_simulator_messages()

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
        """End the day."""
        _pass(self._charges, "settle_due_at")
        settlement.settle_due()

    def dispute(self, charge_id: str, stage: str, amount: int, withdrawn: int) -> None:
        """Have the provider report a stage, after which the bank has `withdrawn`. Raise CannotBeTrue, NotNow."""
        attempt = self._attempts.get(charge_id=parse_id("ch", charge_id), kind="authorize")
        record.record(attempts.reload(attempt), Disputed("D1", Stage[stage.upper()], amount, attempt.charge.currency))
        payment = self._payments(charge_id).get()
        if moved := withdrawn - payment.amount_disputed:
            kind = Entry.Kind.DISPUTE if moved > 0 else Entry.Kind.DISPUTE_WON
            Entry.objects.create(payment=payment, reference=payment.reference, kind=kind, amount=abs(moved))
            self._payments(charge_id).update(amount_disputed=withdrawn)

    def send_responses(self) -> None:
        """All responses are due."""
        _pass(Dispute.objects.filter(merchant=self._merchant), "response_due_at")
        respond.send_due()

    def return_path(self, charge_id: str) -> str:
        """Where the charge's payer comes back to."""
        return "/" + self._payments(charge_id).get().return_url.split("/", 3)[3]

    def _payments(self, charge_id: str) -> QuerySet[SimulatedPayment]:
        attempt = self._attempts.get(charge_id=parse_id("ch", charge_id), kind="authorize")
        return SimulatedPayment.objects.filter(reference=attempt.reference)


def _pass(rows: QuerySet[Any], deadline: str) -> None:
    rows.filter(**{f"{deadline}__isnull": False}).update(**{deadline: clock.now() - timedelta(seconds=1)})
