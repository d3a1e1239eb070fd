from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.access.throttling import AddressThrottle
from payments.api.responses.rendering import json_response
from payments.api.views.base import ApiView


class DocumentView(ApiView):
    """`/v2/openapi.json`, public."""

    schema = None
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = (AddressThrottle,)

    def get(self, request: Request, **_: Any) -> HttpResponse:
        # drf-spectacular is imported with the first request for the document.
        from payments.api.schema.document import document

        return json_response(document(), headers={"Cache-Control": "public, max-age=300"})
