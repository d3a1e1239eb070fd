from rest_framework import serializers

from tests.benchmark.peers.textbook.models import Charge, Source


class SourceSerializer(serializers.ModelSerializer[Source]):
    class Meta:
        model = Source
        fields = ["id", "type", "name", "brand", "last4", "exp_month", "exp_year", "used", "created_at"]
        read_only_fields = ["used"]


class OrderSerializer(serializers.ModelSerializer[Charge]):
    """The body of a request that charges a source of the caller."""

    class Meta:
        model = Charge
        fields = ["amount", "currency", "description", "source"]

    def validate_source(self, source: Source) -> Source:
        if source.owner_id != self.context["request"].user.id:
            raise serializers.ValidationError("There is no such source.")
        return source


class ChargeSerializer(serializers.ModelSerializer[Charge]):
    source = SourceSerializer()

    class Meta:
        model = Charge
        fields = [
            "id",
            "amount",
            "currency",
            "description",
            "reference",
            "status",
            "source",
            "created_at",
            "updated_at",
        ]
