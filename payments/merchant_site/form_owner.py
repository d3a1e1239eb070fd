"""Whose a form of the merchants' site is: it names the merchant whose site was open as it was shown.

Another tab may have opened the site of another merchant since, at which the form would act.
"""

from collections.abc import Callable
from typing import Any

from django import template
from django.http import HttpRequest
from django.template.defaulttags import CsrfTokenNode
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.translation import gettext

from payments.merchant_site.membership import membership_shown, memberships_of

NAME = "form_of"
# They are of the person, and choose the merchant.
OF_PERSON = ("switch_merchant", "logout")
register = template.Library()


class OwnedFormNode(CsrfTokenNode):
    """Django's token, which each form of a site has, and whose the form is."""

    def render(self, context: Any) -> str:
        # Templates of inclusion tags have no variable `request`.
        request = getattr(context, "request", None)
        shown = membership_shown(request) if request else None
        owner = format_html('<input type="hidden" name="{}" value="{}">', NAME, shown.merchant_id.hex) if shown else ""
        return super().render(context) + owner


@register.tag("csrf_token")
def owned_form(parser: Any, token: Any) -> OwnedFormNode:
    """Take the place of Django's tag in every template."""
    return OwnedFormNode()


def refusal_of(request: HttpRequest, context: Callable[[HttpRequest], dict[str, Any]]) -> TemplateResponse | None:
    """Return the page that refuses a form of another merchant than the one that is open, None for any other request."""
    opened, match = membership_shown(request), request.resolver_match
    if request.method != "POST" or opened is None or (match and match.url_name in OF_PERSON):
        return None
    named = request.POST.get(NAME, "")
    if named == opened.merchant_id.hex:
        return None
    owner = next((row.merchant.title for row in memberships_of(request) if row.merchant_id.hex == named), "")
    if owner:
        text = gettext(
            "This form is of {owner}, but {opened} is open now. Choose {owner} at the top, and open it again."
        )
    else:
        text = gettext("This form does not say for whom it is, and {opened} is open now. Go back and open it again.")
    words = {"title": gettext("Nothing was changed"), "text": text.format(owner=owner, opened=opened.merchant.title)}
    return TemplateResponse(request, "merchant/another_is_open.html", context(request) | words, status=409)
