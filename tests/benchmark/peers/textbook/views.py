from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from rest_framework import mixins, status
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from tests.benchmark.peers.textbook.models import Charge, IdempotencyKey, Source
from tests.benchmark.peers.textbook.serializers import ChargeSerializer, OrderSerializer, SourceSerializer


class Pages(CursorPagination):
    ordering = "-id"
    page_size = 20


class SourceViewSet(mixins.CreateModelMixin, GenericViewSet[Source]):
    serializer_class = SourceSerializer

    def perform_create(self, serializer: BaseSerializer[Source]) -> None:
        serializer.save(owner=self.request.user)


class ChargeViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Charge]):
    serializer_class = ChargeSerializer
    pagination_class = Pages

    def get_queryset(self) -> QuerySet[Charge]:
        return Charge.objects.filter(owner=self.request.user).select_related("source")

    def create(self, request: Request) -> Response:
        """Charge a source once for each idempotency key."""
        key = request.headers.get("Idempotency-Key", "")
        known = IdempotencyKey.objects.filter(owner=request.user, key=key).first()
        if known:
            return Response(known.answer, status.HTTP_201_CREATED)
        order = OrderSerializer(data=request.data, context=self.get_serializer_context())
        order.is_valid(raise_exception=True)
        return Response(self.charge(order, key), status.HTTP_201_CREATED)

    @transaction.atomic
    def charge(self, order: OrderSerializer, key: str) -> Any:
        """Return the answer, which is stored with its key in the transaction of the charge."""
        use(order.validated_data["source"])
        charge = order.save(owner=self.request.user, status=Charge.Status.SUCCEEDED)
        answer = self.get_serializer(charge).data
        IdempotencyKey.objects.create(owner=self.request.user, key=key, answer=answer)
        return answer


def use(source: Any) -> None:
    """Mark a source as used. Raises ValidationError where another charge has used it."""
    if not type(source).objects.filter(pk=source.pk, used=False).update(used=True):
        raise ValidationError({"source": "It has been used already."})
    source.used = True
