from contextlib import suppress

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import Http404, HttpRequest, HttpResponseBase
from django.http.request import split_domain_port

from payments.web.middleware import GetResponse

ADMIN = "/admin/"


class AdminHost:
    """Where ADMIN_HOST is set, serves the admin on that host only, and nothing else there."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.ADMIN_HOST and _is_admin_host(request) != request.path_info.startswith(ADMIN):
            raise Http404
        return self.get_response(request)


def _is_admin_host(request: HttpRequest) -> bool:
    # Only health checks reach this with a host that is not allowed.
    with suppress(DisallowedHost):
        return split_domain_port(request.get_host())[0] == settings.ADMIN_HOST.lower()
    return False
