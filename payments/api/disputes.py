from typing import Any

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from payments.api.filters import dispute_filters, disputes_page
from payments.api.responses.rendering import json_response
from payments.api.responses.stored_answers import answer_of
from payments.api.validation.evidence import EvidenceInput, evidence_of
from payments.api.validation.parsers import FileJsonParser
from payments.api.validation.query_fields import DisputeListQuery
from payments.api.validation.strict import Nothing
from payments.api.views.lists import Listing, ListViewSet
from payments.db.compiled_query import CompiledQuery
from payments.domain.disputes import evidence, find, respond
from payments.domain.disputes.verbs import ADD_EVIDENCE
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.models import Dispute
from payments.rendering.objects.disputes import DISPUTE, EVIDENCE, EVIDENCE_LIST

DISPUTES = Listing(Dispute, "dp", CompiledQuery(disputes_page, for_rendering=True), dispute_filters)
ADDED, CHANGED = answer_of(EVIDENCE, 201), answer_of(DISPUTE)


class DisputeViewSet(ListViewSet):
    """The disputes of the merchant's charges, and the merchant's responses to them."""

    listing, shown, find = DISPUTES, DISPUTE, find.find
    query_serializers = {"list": DisputeListQuery}
    reads, writes = "charges:read", ADD_EVIDENCE.right

    @action(detail=True, methods=["post"], parser_classes=[FileJsonParser])
    def evidence(self, request: Request, pk: str) -> HttpResponse:
        def add(caller: Caller, body: dict[str, Any]) -> StoredAnswer:
            return evidence.add(caller, pk, evidence_of(body), ADDED).answer

        return self.run(request, EvidenceInput, add)

    @evidence.mapping.get
    def list_evidence(self, request: Request, pk: str) -> HttpResponse:
        pieces = evidence.of_dispute(self.find(self.caller(request), pk))
        return json_response(EVIDENCE_LIST.render(pieces))

    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: respond.submit(caller, pk, CHANGED).answer)

    @action(detail=True, methods=["post"])
    def accept(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: respond.accept(caller, pk, CHANGED).answer)
