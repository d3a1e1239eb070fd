from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.access.authentication import key_of
from payments.api.responses.errors import refused
from payments.api.views.base import ApiView
from payments.domain.catalogue.error_table import BAD_ORIGIN
from payments.mcp.messages import MessageParser


class McpView(ApiView):
    """`/mcp`: each POST is a message or a list of them, answered as JSON; there are no sessions and no streams.

    The answer is made in this thread, with its connection and its place in the fair queue.
    """

    schema = None
    permission_classes = ()
    parser_classes = (MessageParser,)

    def post(self, request: Request, **_: Any) -> HttpResponse:
        origin = request.META.get("HTTP_ORIGIN", "")
        # A page of another site must not act with a key that a browser was given, whatever name it gave to our host.
        if origin and origin != f"{request.scheme}://{request.get_host()}":
            raise refused(BAD_ORIGIN)
        for _ in request.data[1:] if isinstance(request.data, list) else ():
            self.check_throttles(request)
        # The package takes 30 MB and over a second, which a process that serves no assistant does not pay.
        from payments.mcp.protocol import answer

        return answer(request, key_of(request))
