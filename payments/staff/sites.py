"""The two sites for people, the operators' back office and the merchants' own."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest

from payments.web.hosts import sites


def site_of(request: HttpRequest) -> Any:
    """Return the site that `request` is for; the back office where it is for none."""
    return getattr(request, "people_site", admin.site)


def site_for(user: User) -> Any:
    """Return the site that `user` signs in to."""
    return next(site for site in sites() if site.is_for_operators == user.is_staff)
