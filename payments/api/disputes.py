from typing import Any

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from payments.api.filters import dispute_filters, disputes_page
from payments.api.responses.rendering import json_response
from payments.api.validation.evidence import EvidenceInput, evidence_of
from payments.api.validation.parsers import FileJsonParser
from payments.api.validation.query_fields import DisputeListQuery
from payments.api.validation.strict import Nothing
from payments.api.views.lists import Listing, show_page
from payments.api.views.viewset import ApiViewSet
from payments.db.compiled_query import CompiledQuery
from payments.domain.disputes import evidence, respond
from payments.domain.disputes.find import find
from payments.domain.disputes.verbs import ADD_EVIDENCE
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import Dispute, Evidence
from payments.rendering.objects.disputes import DISPUTE, EVIDENCE, EVIDENCE_LIST

DISPUTES = Listing(Dispute, "dp", CompiledQuery(disputes_page, for_rendering=True), dispute_filters)


class DisputeViewSet(ApiViewSet):
    """The disputes of the merchant's charges, and the merchant's responses to them."""

    query_serializers = {"list": DisputeListQuery}
    reads, writes = "charges:read", ADD_EVIDENCE.right

    def list(self, request: Request) -> HttpResponse:
        return show_page(request, self.caller(request), DISPUTES, self.query, DISPUTE.render)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        return json_response(DISPUTE.render(find(self.caller(request), pk)))

    @action(detail=True, methods=["post"], parser_classes=[FileJsonParser])
    def evidence(self, request: Request, pk: str) -> HttpResponse:
        def add(caller: Caller, body: dict[str, Any]) -> StoredAnswer:
            return evidence.add(caller, pk, evidence_of(body), _evidence_answer).answer

        return self.run(request, EvidenceInput, add)

    @evidence.mapping.get
    def list_evidence(self, request: Request, pk: str) -> HttpResponse:
        pieces = evidence.of_dispute(find(self.caller(request), pk))
        return json_response(EVIDENCE_LIST.render(pieces))

    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: respond.submit(caller, pk, _dispute_answer).answer)

    @action(detail=True, methods=["post"])
    def accept(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: respond.accept(caller, pk, _dispute_answer).answer)


def _evidence_answer(piece: Evidence) -> StoredAnswer:
    return StoredAnswer(201, to_bytes(EVIDENCE.render(piece)))


def _dispute_answer(dispute: Dispute) -> StoredAnswer:
    return StoredAnswer(200, to_bytes(DISPUTE.render(dispute)))
