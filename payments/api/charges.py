from typing import Any

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from payments.api.filters import charge_filters, charges_page
from payments.api.validation.query_fields import ChargeListQuery
from payments.api.validation.serializers import CaptureInput, ChargeInput, RefundInput, VerifyInput
from payments.api.validation.strict import Nothing
from payments.api.views.lists import Listing, ListViewSet
from payments.db.compiled_query import CompiledQuery
from payments.domain.charging import charges, operations, verbs
from payments.domain.charging.charges import ChargeOrder
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.models import Charge
from payments.rendering.objects.charges import CHARGE

CHARGES = Listing(Charge, "ch", CompiledQuery(charges_page, for_rendering=True), charge_filters)


class ChargeViewSet(ListViewSet):
    """Charges and their operations; each action calls one function of the domain."""

    listing, shown, find = CHARGES, CHARGE, charges.find
    query_serializers = {"list": ChargeListQuery}
    reads, writes = "charges:read", verbs.CHARGE.right
    rights = {verbs.REFUND.name: verbs.REFUND.right}

    def create(self, request: Request) -> HttpResponse:
        return self.run(request, ChargeInput, _create)

    @action(detail=True, methods=["post"])
    def capture(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, CaptureInput, lambda caller, body: operations.capture(caller, pk, **body).answer)

    @action(detail=True, methods=["post"])
    def void(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: operations.void(caller, pk).answer)

    @action(detail=True, methods=["post"])
    def refund(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, RefundInput, lambda caller, body: operations.refund(caller, pk, **body).answer)

    @action(detail=True, methods=["post"])
    def verify(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, VerifyInput, lambda caller, body: charges.verify(caller, pk, **body).answer)


def _create(caller: Caller, body: dict[str, Any]) -> StoredAnswer:
    cvc = body.pop("cvc", None)
    return charges.create(caller, ChargeOrder(**body), cvc).answer
