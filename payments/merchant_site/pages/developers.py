"""What a merchant's integration has: keys, webhooks and their endpoints, events, and its requests."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.charges.events import EventAdmin
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import beside, column
from payments.admin.framework.object_actions import Consequence
from payments.admin.framework.row_actions import RowAction
from payments.admin.merchants.actions import RollWebhookSecret
from payments.admin.merchants.api_keys import (
    KEY_NOTICE,
    ROLL_NOTICE,
    IssueKey,
    RevokeKey,
    RollKey,
    SetOrigins,
    moves_money,
)
from payments.admin.merchants.merchants import ApiKeyAdmin, WebhookSecretAdmin
from payments.admin.merchants.requests import ApiRequestAdmin
from payments.admin.webhooks.endpoints import AddEndpoint, WebhookEndpointAdmin
from payments.admin.webhooks.webhooks import AttemptsOfWebhook, WebhookAdmin
from payments.merchant_site.pages.base import MadeByAction, OfMerchant
from payments.merchant_site.site import merchant_site
from payments.models import ApiKey, ApiRequest, Event, Merchant, Webhook, WebhookEndpoint, WebhookSecret
from payments.sensitive_data.redaction import readable

WHY = "Done on the merchants' own site."
APPROVER = _("an owner other than you, or kaha,")


class NotAskedWhy(BaseAdmin):
    """A page whose forms leave out the reason, which operators give."""

    def form_of(self, act: RowAction, row: Any, data: Any) -> forms.Form:
        form = super().form_of(act, row, data)
        # A form takes nothing else for a field that is disabled.
        reason = form.fields["reason"]
        reason.disabled, reason.initial, reason.widget = True, WHY, forms.HiddenInput()
        return form


class IssueOwnKey(IssueKey):
    def notice(self, merchant: Merchant, operator: User) -> Consequence:
        return Consequence(KEY_NOTICE.format(approver=APPROVER))


class RollOwnKey(RollKey):
    def notice(self, key: ApiKey, operator: User) -> Consequence | None:
        return Consequence(ROLL_NOTICE.format(approver=APPROVER)) if moves_money(key) else None


@admin.register(ApiKey, site=merchant_site)
class Keys(NotAskedWhy, MadeByAction, OfMerchant, ApiKeyAdmin):
    maker = IssueOwnKey()
    row_actions = (RollOwnKey(), SetOrigins(), RevokeKey())
    list_display: Any = ("named", "kind", "scope", "standing", "last_used", "expires", "mode")
    named = column(_("Key"), lambda key: beside(key.name, key) if key.name else str(key))
    scope = column(_("Rights"), lambda key: ", ".join(key.rights) or gettext("all of its kind"))

    def headline(self, row: ApiKey) -> str:
        return row.name or gettext("Key {key}").format(key=row)


@admin.register(WebhookEndpoint, site=merchant_site)
class Endpoints(NotAskedWhy, MadeByAction, OfMerchant, WebhookEndpointAdmin):
    maker = AddEndpoint()
    row_actions = WebhookEndpointAdmin.row_actions

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).exclude(status=WebhookEndpoint.Status.DELETED)

    def headline(self, row: WebhookEndpoint) -> str:
        return row.url


class OwnAttempts(AttemptsOfWebhook):
    for_merchants = "number started took result detail"
    # The reason for no answer is a line for operators.
    detail = column(_("First of the answer"), lambda made: format_html("<pre>{}</pre>", readable(bytes(made.answer))))


@admin.register(Webhook, site=merchant_site)
class Webhooks(OfMerchant, WebhookAdmin):
    inlines = (OwnAttempts,)


@admin.register(WebhookSecret, site=merchant_site)
class Secrets(NotAskedWhy, MadeByAction, OfMerchant, WebhookSecretAdmin):
    """Those of the addresses that sources name; an endpoint has its own."""

    maker = RollWebhookSecret()
    list_display: Any = ("secret_id", "created", "expires", "mode")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(endpoint=None)


@admin.register(Event, site=merchant_site)
class Events(OfMerchant, EventAdmin):
    """What happened, as webhooks say it."""


@admin.register(ApiRequest, site=merchant_site)
class Requests(OfMerchant, ApiRequestAdmin):
    """What the integration asked."""
