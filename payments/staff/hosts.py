"""The two sites for people, the operators' back office and the merchants' own: each at a prefix, and maybe a host."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from django.contrib import admin
from django.contrib.admin.sites import all_sites
from django.contrib.auth.models import User
from django.core.exceptions import DisallowedHost
from django.http import Http404, HttpRequest, HttpResponseBase
from django.http.request import split_domain_port
from django.urls import set_urlconf

from payments.web.middleware import GetResponse


def site_of(request: HttpRequest) -> Any:
    """Return the site that `request` is for; the back office where it is for none."""
    return getattr(request, "people_site", admin.site)


def site_for(user: User) -> Any:
    """Return the site that `user` signs in to."""
    return next(site for site in _sites() if site.is_for_operators == user.is_staff)


def _sites() -> list[Any]:
    sites: Iterable[Any] = all_sites
    return sorted(sites, key=lambda site: str(site.prefix))


class SiteHosts:
    """Serves a site that has a host on that host only, and nothing else there; resolves addresses by its URLconf."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self._sites = _sites()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        for site in self._sites:
            is_for_site = request.path_info.startswith(site.prefix)
            own_host = site.setting("HOST")
            if own_host and is_for_site != (_host_of(request) == own_host.lower()):
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


def _host_of(request: HttpRequest) -> str:
    # Only health checks reach this with a host that is not allowed.
    with suppress(DisallowedHost):
        return split_domain_port(request.get_host())[0]
    return ""
