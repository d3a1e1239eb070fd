import json
import time
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from rest_framework import mixins, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from tests.benchmark.peers.books.views import approve, publish, shares_of
from tests.benchmark.peers.company.models import Card, Charge, ClaimedKey, LedgerEntry, Source
from tests.benchmark.peers.company.serializers import CardInput, ChargeSerializer, OrderSerializer, SourceSerializer
from tests.benchmark.peers.textbook.views import Pages, use

# How long a request waits for another one under the same key.
WAIT_SECONDS, LOOK_SECONDS = 10, 0.05


class Conflict(APIException):
    status_code = status.HTTP_409_CONFLICT


class SourceViewSet(GenericViewSet[Source]):
    @transaction.atomic
    def create(self, request: Request) -> Response:
        given = CardInput(data=request.data)
        given.is_valid(raise_exception=True)
        kind = given.validated_data.pop("type")
        source = Source.objects.create(owner=request.user, type=kind)
        Card.objects.create(source=source, **given.validated_data)
        return Response(SourceSerializer(source).data, status.HTTP_201_CREATED)


class ChargeViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Charge]):
    serializer_class = ChargeSerializer
    pagination_class = Pages

    def get_queryset(self) -> QuerySet[Charge]:
        rows = Charge.objects.filter(owner=self.request.user)
        return rows.select_related("source__card").prefetch_related("refunds")

    def create(self, request: Request) -> Response:
        """Charge a source once for each idempotency key; of two at once, the second waits for the answer."""
        key = request.headers.get("Idempotency-Key", "")
        text = json.dumps(request.data, sort_keys=True)
        digest = sha256(f"{request.method} {request.path} {text}".encode()).hexdigest()
        try:
            claimed = ClaimedKey.objects.create(owner=request.user, key=key, request_hash=digest)
        except IntegrityError:
            return Response(answer_of(request, key, digest), status.HTTP_201_CREATED)
        try:
            order = OrderSerializer(data=request.data, context=self.get_serializer_context())
            order.is_valid(raise_exception=True)
            return Response(self.charge(order, claimed), status.HTTP_201_CREATED)
        except ValidationError:
            claimed.delete()
            raise

    def charge(self, order: OrderSerializer, claimed: ClaimedKey) -> Any:
        """Note the charge, ask the provider, and note what came of it, so that no transaction waits for a provider."""
        with transaction.atomic():
            use(order.validated_data["source"])
            charge = order.save(owner=self.request.user)
            publish(self.request.user, "charge.created", self.get_serializer(charge).data)
        charge.reference, charge.status = approve(charge), Charge.Status.SUCCEEDED
        charge.captured, charge.amount_captured = True, charge.amount
        with transaction.atomic():
            charge.save(update_fields=["reference", "status", "captured", "amount_captured", "updated_at"])
            entries = [LedgerEntry(charge=charge, account=name, amount=amount) for name, amount in shares_of(charge)]
            LedgerEntry.objects.bulk_create(entries)
            answer = self.get_serializer(charge).data
            publish(self.request.user, "charge.succeeded", answer)
            claimed.answer = answer
            claimed.save(update_fields=["answer"])
        return answer


def answer_of(request: Request, key: str, digest: str) -> Any:
    """Return the answer of the request that has claimed the key. Raises ValidationError for another request."""
    ends_at = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < ends_at:
        known = ClaimedKey.objects.filter(owner=request.user, key=key).first()
        if known is None:
            break
        if known.request_hash != digest:
            raise ValidationError({"idempotency_key": "It was used for another request."})
        if known.answer is not None:
            return known.answer
        time.sleep(LOOK_SECONDS)
    raise Conflict("Another request with this key is under way.")
