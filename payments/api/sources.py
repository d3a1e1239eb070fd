from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.responses.rendering import json_response
from payments.api.responses.stored_answers import answer_of
from payments.api.validation.serializers import SourceInput
from payments.api.views.viewset import ApiViewSet
from payments.domain import sources
from payments.rendering.objects.sources import SOURCE

ANSWER = answer_of(SOURCE)


class SourceViewSet(ApiViewSet):
    """Sources: the only resource that a publishable key, and so a browser, may use."""

    open_to_browsers = True
    reads, writes = "sources:read", "sources:write"

    def create(self, request: Request) -> HttpResponse:
        return self.run(request, SourceInput, lambda caller, body: sources.create(caller, body, ANSWER).answer)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        return json_response(SOURCE.render(sources.find(self.caller(request), pk)))
