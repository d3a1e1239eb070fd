"""The way to the back office, for the header of every page."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def office_url() -> str:
    """Return the address of the back office, which may have a host of its own."""
    return f"{settings.ADMIN_ORIGIN if settings.ADMIN_HOST else ''}/admin/"
