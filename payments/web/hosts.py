"""What is answered on which host, and by which scheme."""

import re
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.contrib.admin.sites import all_sites
from django.core.exceptions import DisallowedHost
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import set_urlconf

from payments import hosts
from payments.api.access.exception_handler import rate_limit_anonymous
from payments.api.responses.errors import MAX_NAME_LENGTH, error_response, refused
from payments.domain.catalogue import error_table
from payments.sensitive_data.redaction import redact
from payments.web.environ import GetResponse, is_api

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


def sites() -> list[Any]:
    """Return the sites for people, each at a prefix."""
    found: Iterable[Any] = all_sites
    return sorted(found, key=lambda site: str(site.prefix))


class SiteHosts:
    """Serves a site that has a host on that host only, and nothing else there; resolves addresses by its URLconf."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self._sites = sites()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        for site in self._sites:
            is_for_site = request.path_info.startswith(site.prefix)
            own_host = site.setting("HOST")
            if own_host and is_for_site != (hosts.asked_of(request) == own_host.lower()):
                raise Http404
            if is_for_site:
                vars(request).update(people_site=site, urlconf=site.urlconf)
        if not hasattr(request, "urlconf"):
            return self.get_response(request)
        try:
            return self.get_response(request)
        finally:
            # Django leaves it to the thread until its next request.
            set_urlconf(None)
