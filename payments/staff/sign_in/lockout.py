"""The lock-out after failed sign-ins, as django-axes asks for it: its limit, the address, and the response."""

from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from payments.api.access.throttling import client_address
from payments.domain.risk.addresses import network_of

FAILURES_MAX = 10


class FailuresOnly(AxesDatabaseHandler):
    """Counts failures by name and address. Path, query, agent and accepted types of the request are not kept."""

    def user_login_failed(self, sender: Any, credentials: Any, request: Any = None, **more: Any) -> None:
        if request is not None:
            request.axes_user_agent = request.axes_path_info = request.axes_http_accept = ""
        super().user_login_failed(sender, credentials, request, **more)


def failures_max(*_: Any) -> int:
    """Return the number of failures that lock a user or an address out."""
    return FAILURES_MAX


def address_of(request: HttpRequest) -> str | None:
    """Return the client's IP address, for IPv6 the first of its network; None if a proxy sends none."""
    with suppress(ValueError):
        # PostgreSQL's `inet` has no zones (fe80::1%eth0).
        address = ip_address(client_address(request).partition("%")[0])
        if isinstance(address, IPv6Address):
            return str(address.ipv4_mapped or network_of(address).network_address)
        return str(address)
    return None


def locked_out(request: HttpRequest, *_: Any) -> HttpResponse:
    """Return 429, the same whether the user exists or not."""
    cool_off = settings.AXES_COOLOFF_TIME
    context = admin.site.each_context(request) | {"title": "Locked out", "minutes": int(cool_off.total_seconds() // 60)}
    response = render(request, "admin/staff/locked_out.html", context, status=429)
    response["Retry-After"] = str(int(cool_off.total_seconds()))
    return response
