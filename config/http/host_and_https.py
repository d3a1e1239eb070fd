"""The host names and the scheme under which the service answers."""

import re

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponseBase

from payments.api.access.exception_handler import rate_limit_anonymous
from payments.api.responses.errors import MAX_NAME_LENGTH, error_response, refused
from payments.domain.catalogue import error_table
from payments.sensitive_data.redaction import redact
from payments.web.middleware import GetResponse, is_api

# A health check asks without a proxy, by the address of the process.
WATCHED = re.compile(r"/ping/?")


class HostAndHttps:
    """Refuse requests for another host than ours, and those of the API over plain http where HTTPS is on.

    Django checks the host only where it needs it, and redirects pages to https by itself; a redirected API client
    would send its key in clear text every time.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if WATCHED.fullmatch(request.path_info):
            return self.get_response(request)
        try:
            request.get_host()
        except DisallowedHost:
            if not is_api(request):
                raise
            name = redact(request.META.get("HTTP_HOST", ""))[:MAX_NAME_LENGTH]
            return error_response(rate_limit_anonymous(request, refused(error_table.BAD_HOST, host=name)))
        if settings.HTTPS and is_api(request) and not request.is_secure():
            return error_response(rate_limit_anonymous(request, refused(error_table.NO_HTTPS)))
        return self.get_response(request)
