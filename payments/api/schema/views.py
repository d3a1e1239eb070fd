from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework.request import Request

from payments.api.access.throttling import AddressThrottle
from payments.api.responses.rendering import json_response
from payments.api.views.base import ApiView

# Hashes of the two style elements of the viewer, one of them empty; a new version may have others.
VIEWER_STYLES = (
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
    "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
)
DOCS_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' {' '.join(VIEWER_STYLES)}",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)


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


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Answer `/docs`, the OpenAPI document as a page."""
    response = render(request, "docs.html")
    response["Content-Security-Policy"] = DOCS_POLICY
    return response
