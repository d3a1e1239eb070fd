from typing import Any
from uuid import uuid4

from django.db import transaction

from tests.benchmark.peers.books.models import Event, LedgerEntry, OutboxMessage
from tests.benchmark.peers.textbook import views
from tests.benchmark.peers.textbook.models import Charge, IdempotencyKey
from tests.benchmark.peers.textbook.serializers import OrderSerializer

FEE_BASIS_POINTS = 250


class ChargeViewSet(views.ChargeViewSet):
    def charge(self, order: OrderSerializer, key: str) -> Any:
        """Note the charge, ask the provider, and note what came of it, so that no transaction waits for a provider."""
        with transaction.atomic():
            views.use(order.validated_data["source"])
            charge = order.save(owner=self.request.user)
            record = IdempotencyKey.objects.create(owner=self.request.user, key=key)
            publish(self.request.user, "charge.created", self.get_serializer(charge).data)
        charge.reference = approve(charge)
        charge.status = Charge.Status.SUCCEEDED
        with transaction.atomic():
            charge.save(update_fields=["reference", "status", "updated_at"])
            entries = [LedgerEntry(charge=charge, account=name, amount=amount) for name, amount in shares_of(charge)]
            LedgerEntry.objects.bulk_create(entries)
            answer = self.get_serializer(charge).data
            publish(self.request.user, "charge.succeeded", answer)
            record.answer = answer
            record.save(update_fields=["answer"])
        return answer


def publish(owner: Any, kind: str, payload: Any) -> None:
    event = Event.objects.create(owner=owner, type=kind, payload=payload)
    OutboxMessage.objects.create(event=event)


def approve(charge: Any) -> str:
    """Answer as a provider that approves every charge, from memory: return its reference."""
    return uuid4().hex


def shares_of(charge: Any) -> list[tuple[str, int]]:
    """Return the accounts and amounts of a captured charge, whose sum is zero."""
    fee = charge.amount * FEE_BASIS_POINTS // 10_000
    return [("receivable", charge.amount), ("payable", fee - charge.amount), ("fees", -fee)]
