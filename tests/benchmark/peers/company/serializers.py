from typing import Any

from rest_framework import serializers

from tests.benchmark.peers.company.models import Card, Charge, Refund, Source
from tests.benchmark.peers.textbook import serializers as textbook


class CardSerializer(serializers.ModelSerializer[Card]):
    object = serializers.ReadOnlyField(default="card")

    class Meta:
        model = Card
        exclude = ["source"]


class SourceSerializer(serializers.ModelSerializer[Source]):
    object = serializers.ReadOnlyField(default="source")
    card = CardSerializer(read_only=True)

    class Meta:
        model = Source
        exclude = ["owner"]


class CardInput(serializers.ModelSerializer[Card]):
    """The body of a request that makes a source of a card."""

    type = serializers.ChoiceField(["card"], write_only=True)

    class Meta:
        model = Card
        fields = ["type", "name", "brand", "last4", "exp_month", "exp_year"]


class OrderSerializer(textbook.OrderSerializer):
    class Meta(textbook.OrderSerializer.Meta):
        model = Charge


class RefundSerializer(serializers.ModelSerializer[Refund]):
    object = serializers.ReadOnlyField(default="refund")

    class Meta:
        model = Refund
        fields: Any = "__all__"


class ChargeSerializer(serializers.ModelSerializer[Charge]):
    object = serializers.ReadOnlyField(default="charge")
    source = SourceSerializer()
    billing = serializers.ReadOnlyField(source="source.billing")
    refunds = RefundSerializer(many=True)

    class Meta:
        model = Charge
        exclude = ["owner"]
