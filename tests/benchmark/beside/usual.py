"""The usual way to list charges, to be cheaper than: ORM and ModelSerializer, without keys, limits and logs.

It answers with the same rows and members as kaha.
"""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.generics import ListAPIView
from rest_framework.serializers import ModelSerializer

from payments.models import Card, Charge, Refund, Source
from tests.benchmark.clients.client import PAGE

TIMES = ["created_at", "updated_at"]


class CardSerializer(ModelSerializer[Card]):
    class Meta:
        model = Card
        fields = [
            *("id", "name", "last4", "exp_month", "exp_year", "brand", "country", "cvc_checked", "funding"),
            "issuing_bank",
        ]


class SourceSerializer(ModelSerializer[Source]):
    card = CardSerializer()

    class Meta:
        model = Source
        fields = ["id", "type", "card", "used", "livemode", *TIMES]


class RefundSerializer(ModelSerializer[Refund]):
    class Meta:
        model = Refund
        fields = ["id", "amount", "charge", "currency", "reason", "status", "livemode", *TIMES]


class ChargeSerializer(ModelSerializer[Charge]):
    source = SourceSerializer()
    refunds = RefundSerializer(source="refund_list", many=True)

    class Meta:
        model = Charge
        fields = [
            *("id", "amount", "amount_captured", "amount_refunded", "authorized", "captured", "currency"),
            *("statement_descriptor", "description", "source", "require_auth", "refunds", "status", "livemode"),
            *TIMES,
        ]


class Charges(ListAPIView[Charge]):
    queryset = Charge.objects.whole().order_by("-id")[:PAGE]
    serializer_class = ChargeSerializer


def ping(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


urlpatterns = [path("ping", ping), path("list", Charges.as_view())]
