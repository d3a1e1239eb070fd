"""What a merchant's integration has: keys, webhooks and their endpoints, events, and its requests."""

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.charges.events import EventAdmin
from payments.admin.framework.formats import beside, column
from payments.admin.merchants.actions import RollWebhookSecret
from payments.admin.merchants.api_keys import (
    IssueKey,
    RevokeKey,
    RollKey,
    SetOrigins,
)
from payments.admin.merchants.merchants import ApiKeyAdmin, WebhookSecretAdmin
from payments.admin.merchants.requests import ApiRequestAdmin
from payments.admin.webhooks.endpoints import AddEndpoint, WebhookEndpointAdmin
from payments.admin.webhooks.webhooks import AttemptsOfWebhook, WebhookAdmin, answer_of
from payments.merchant_site.policy import on_merchant_site
from payments.models import ApiKey, ApiRequest, Event, Webhook, WebhookEndpoint, WebhookSecret

WHY = "Done on the merchants' own site."
APPROVER = _("an owner other than you, or kaha,")


# The page of a new row is the action's.
NEW: Any = {"is_new": True, "for_merchants": True}


@on_merchant_site(ApiKey, given_reason=WHY)
class Keys(ApiKeyAdmin):
    row_actions: Any = (IssueKey(approver=APPROVER, **NEW), RollKey(approver=APPROVER), SetOrigins(), RevokeKey())
    list_display: Any = ("named", "kind", "scope", "standing", "last_used", "expires", "mode")
    views = {"rehearse": ("rehearse/", "rehearse")}
    named = column(_("Key"), lambda key: beside(key.name, key) if key.name else str(key))
    scope = column(_("Rights"), lambda key: ", ".join(key.rights) or gettext("all of its kind"))

    def headline(self, row: ApiKey) -> str:
        return row.name or gettext("Key {key}").format(key=row)

    def rehearse(self, request: HttpRequest) -> HttpResponse:
        """Lead to the guide on rehearsing a shop."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return redirect(f"{settings.PUBLIC_URL}/docs/rehearse")


@on_merchant_site(WebhookEndpoint, given_reason=WHY)
class Endpoints(WebhookEndpointAdmin):
    row_actions: Any = (AddEndpoint(**NEW), *WebhookEndpointAdmin.row_actions)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).exclude(status=WebhookEndpoint.Status.DELETED)

    def headline(self, row: WebhookEndpoint) -> str:
        return row.url


class OwnAttempts(AttemptsOfWebhook):
    for_merchants = "number started took result request detail"
    # The reason for no answer is a line for operators.
    detail = column(_("Answer"), answer_of)


@on_merchant_site(WebhookSecret, given_reason=WHY)
class Secrets(WebhookSecretAdmin):
    """Those of the addresses that sources name; an endpoint has its own."""

    row_actions = (RollWebhookSecret(**NEW),)
    list_display: Any = ("secret_id", "created", "expires", "mode")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(endpoint=None)


on_merchant_site(Webhook, inlines=(OwnAttempts,))(WebhookAdmin)
on_merchant_site(Event)(EventAdmin)
on_merchant_site(ApiRequest)(ApiRequestAdmin)
