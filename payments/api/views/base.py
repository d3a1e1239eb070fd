"""The base view of `/v2`: checks that come before the work of each view."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from rest_framework.exceptions import MethodNotAllowed, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from payments.api.access.authentication import caller_of
from payments.api.responses.errors import Fault, faults_of, invalid, not_found
from payments.api.responses.rendering import put_headers
from payments.api.validation.fields import CARD_DATA
from payments.api.validation.parsers import query_of, require_stated_length
from payments.api.validation.strict import Nothing, StrictSerializer
from payments.domain.bulkheads import take_caller_place
from payments.sensitive_data.card_numbers import holds_taken_card

# The reference's names for path parameters that DRF names differently.
PATH_NAMES = {"pk": "id"}
# In a request's environment, where no header of a client gets: it is a part of a request that has a place already.
HAS_PLACE = "kaha.has_place"


@cache
def _shared(serializer_class: type[StrictSerializer], livemode: bool) -> StrictSerializer:
    """Return one instance for all requests, because DRF copies every field for each new instance."""
    return serializer_class(context={"livemode": livemode})


def validated(
    serializer_class: type[StrictSerializer], data: Any, *, where: str = "body", livemode: bool = False
) -> dict[str, Any]:
    """Return `data`, which comes from the `body` or the `query` (`where`), validated by the serializer.

    Raises ApiError 422 with all faults.
    """
    try:
        return _shared(serializer_class, livemode).run_validation(data)
    except ValidationError as error:
        raise invalid(faults_of(error.detail, (where,))) from error


class ApiView(APIView):
    """A view that checks body and query before the handler runs, so that no request is half understood.

    `query_serializers` has the serializer of the query by action; without one the query must be empty. The handler
    reads the checked query from `self.query` and the checked body from `self.body(SerializerClass)`.
    """

    http_method_names = ["get", "head", "post", "put", "delete"]
    query_serializers: Mapping[str, type[StrictSerializer]] = {}
    # What a restricted key needs to read and to change, and by action, where it needs another right.
    reads = writes = ""
    rights: Mapping[str, str] = {}
    query: dict[str, Any]

    @classmethod
    def right_for(cls, action: str, method: str) -> str:
        """Return the right that a restricted key needs for an action, called by `method`; "" for none."""
        return cls.rights.get(action) or (cls.reads if method in ("GET", "HEAD") else cls.writes)

    @property
    def default_response_headers(self) -> dict[str, str]:
        """Return no headers: DRF would send `Allow` with every answer, and only a 405 needs it."""
        return {}

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer, and then release the place that the request held among those that merchants share."""
        self.give_back: Callable[[], None] | None = None
        try:
            response = super().dispatch(request, *args, **kwargs)
        finally:
            if self.give_back:
                self.give_back()
        # View and request refer to each other and themselves, and would wait for the garbage collector.
        self.request.parser_context.clear()
        vars(self).clear()
        return response

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """Return DRF's request, with what it would look for in Django's at each use."""
        made = super().initialize_request(request, *args, **kwargs)
        made.META, made.method = request.META, request.method
        return made

    def finalize_response(self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any) -> Any:
        if isinstance(response, Response):
            return super().finalize_response(request, response, *args, **kwargs)
        put_headers(response, self.headers.items())
        return response

    def check_permissions(self, request: Request) -> None:
        """Do nothing yet: DRF calls this before it counts the request, and refused requests count too."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method == "TRACE":
            # Nothing answers it, so it needs no key.
            raise MethodNotAllowed("TRACE")
        super().initial(request, *args, **kwargs)
        if request.auth and HAS_PLACE not in request.META:
            self.give_back = take_caller_place(caller_of(request))
        super().check_permissions(request)
        if request.method not in self.allowed_methods:
            return
        if any("\x00" in str(value) for value in kwargs.values()):
            raise not_found()
        if wrong := [name for name, value in kwargs.items() if holds_taken_card(str(value))]:
            raise invalid(Fault(("path", PATH_NAMES.get(name, name)), CARD_DATA, "card_data") for name in wrong)
        serializer_class = self.query_serializers.get(getattr(self, "action", ""), Nothing)
        self.query = validated(serializer_class, query_of(request), where="query")
        if request.method in ("POST", "PUT", "DELETE"):
            require_stated_length(request)
            request.data  # noqa: B018  parsing is lazy, and a body that the view does not read must be valid too

    def body(self, serializer_class: type[StrictSerializer]) -> dict[str, Any]:
        """Return the validated body. Raises ApiError 422 with all faults."""
        key: Any = self.request.auth
        return validated(serializer_class, self.request.data or {}, livemode=key.livemode)
