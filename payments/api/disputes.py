from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.filters import dispute_filters, disputes_page
from payments.api.responses.rendering import json_response
from payments.api.validation.query_fields import DisputeListQuery
from payments.api.views.lists import Listing, show_page
from payments.api.views.viewset import ApiViewSet
from payments.db.compiled_query import CompiledQuery
from payments.domain.errors import not_found
from payments.ids import parse_id
from payments.models import Dispute
from payments.rendering.objects import render_dispute

DISPUTES = Listing(Dispute, "dp", CompiledQuery(disputes_page), dispute_filters)


class DisputeViewSet(ApiViewSet):
    """The disputes of the merchant's charges."""

    query_serializers = {"list": DisputeListQuery}
    rights = {"list": "charges:read", "retrieve": "charges:read"}

    def list(self, request: Request) -> HttpResponse:
        return show_page(request, self.caller(request), DISPUTES, self.query, render_dispute)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        caller, uuid = self.caller(request), parse_id("dp", pk)
        own = Dispute.objects.of(caller.merchant_id, caller.livemode)
        found = own.filter(id=uuid).first() if uuid else None
        if found is None:
            raise not_found("dispute")
        return json_response(render_dispute(found))
