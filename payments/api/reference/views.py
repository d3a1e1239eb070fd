from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from rest_framework.request import Request

from payments.api.access.throttling import AddressThrottle
from payments.api.guides.views import answer_page
from payments.api.responses.rendering import json_response
from payments.api.views.base import ApiView


@require_safe
@gzip_page
def show_reference(request: HttpRequest) -> HttpResponse:
    """Answer `/docs`, the OpenAPI document as a page."""
    return answer_page(request, lambda: page_of_reference(settings.PUBLIC_URL))


@cache
def page_of_reference(public_url: str) -> bytes:
    """Return the page in HTML. Rendered once: nothing in it depends on the request."""
    # The document and the Markdown parser are imported with the first request.
    from payments.api.reference.page import page
    from payments.api.schema.document import document

    return render_to_string("reference/page.html", page(document(), public_url)).encode()


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
