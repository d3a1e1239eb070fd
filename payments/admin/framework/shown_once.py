"""Secrets, on the one answer that ever shows them."""

from collections.abc import Mapping

from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse


def shown_once(
    request: HttpRequest, page: admin.ModelAdmin, title: str, secrets: Mapping[str, str], onward: str
) -> TemplateResponse:
    """The answer to the form that made `secrets`, by name; `onward` is where its reader goes next.

    Like every page of the admin it may be kept by no browser and no proxy.
    """
    context = page.admin_site.each_context(request) | {
        "title": title,
        "opts": page.opts,
        "secrets": secrets,
        "onward": onward,
        "media": page.media,
    }
    return TemplateResponse(request, "admin/payments/shown_once.html", context)
