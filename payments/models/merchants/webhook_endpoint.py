from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Q
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.checks import checks
from payments.db.fields import VerbatimJSONField
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.merchants.merchant import Merchant

EVENT_TYPE_MAX_LENGTH = 30
# In `enabled_events`, it stands for every type.
EVERY_TYPE = "*"
# What a receiver begins with that is an endpoint: its public ID, so that each endpoint has a queue of its own.
PREFIX = "we"
# The condition, in SQL, for a receiver `r` that is a paused endpoint: what waits for it is not due.
IS_PAUSED = f"""CASE WHEN starts_with(r.receiver, '{PREFIX}_') THEN EXISTS (
    SELECT FROM payments_webhookendpoint p
    WHERE p.id = substr(r.receiver, {len(PREFIX) + 2})::uuid AND p.status = 'paused'
) ELSE false END"""  # nosec B608 # made of constants

# In SQL, where a webhook `n` is sent: from an endpoint's own queue to the URL of this moment, and to none once it gets
# no webhooks any more.
CURRENT_URL = f"""CASE WHEN starts_with(n.receiver, '{PREFIX}_') THEN (
    SELECT w.url FROM payments_webhookendpoint w WHERE w.id = n.endpoint_id AND w.status IN ('enabled', 'paused')
) ELSE n.url END"""  # nosec B608 # made of constants
# The condition of the index `endpoint_of_merchant`, as a constant: a plan for all values would not see that a parameter
# meets it, and would read the deleted endpoints, too.
_IS_PRESENT = Func(F("status"), template="(%(expressions)s <> 'deleted')", output_field=models.BooleanField())


class WebhookEndpointQuerySet(ScopedQuerySet["WebhookEndpoint"]):
    """Webhook endpoints of one merchant in one mode."""

    def present(self) -> "WebhookEndpointQuerySet":
        """Return those that are not deleted."""
        return self.filter(_IS_PRESENT)

    def written_for(self) -> "WebhookEndpointQuerySet":
        """Return those for which webhooks are written: a paused one gets them when it is resumed."""
        return self.present().filter(status__in=[WebhookEndpoint.Status.ENABLED, WebhookEndpoint.Status.PAUSED])


class WebhookEndpoint(models.Model):
    """A URL of a merchant that gets the events of the types it lists, signed with secrets of its own."""

    class Status(models.TextChoices):
        ENABLED = "enabled", _("Enabled")
        PAUSED = "paused", _("Paused")  # webhooks are written and wait
        DISABLED = "disabled", _("Disabled")  # none are written, and those that wait are cancelled
        DELETED = "deleted", _("Deleted")  # the same, and merchants see it no more

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="webhook_endpoints", db_index=False)
    livemode = models.BooleanField()
    url = models.CharField(_("URL"), max_length=2083)
    enabled_events = ArrayField(models.CharField(max_length=EVENT_TYPE_MAX_LENGTH))
    status = models.CharField(_("status"), max_length=8, choices=Status.choices, default=Status.ENABLED)
    description = models.CharField(_("description"), max_length=255, blank=True, default="")
    metadata = VerbatimJSONField(null=True, blank=True)
    # Since when every attempt has failed; empty after one that did not.
    failing_since = models.DateTimeField(null=True, blank=True)
    # When kaha disabled it because of that; empty once its status is changed again.
    gave_up_at = models.DateTimeField(null=True, blank=True)
    # Since when events go where it says, and when the next look is due at those that were written by processes that did
    # not know so yet; empty once all know.
    owed_since = models.DateTimeField(null=True, blank=True)
    catch_up_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = WebhookEndpointQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("webhook endpoint"), _("webhook endpoints")
        constraints = checks(
            endpoint_lists_events=~Q(enabled_events=[]),
            endpoint_given_up_is_disabled=Q(gave_up_at__isnull=True) | Q(status="disabled"),
        )
        indexes = [
            models.Index(
                F("merchant"), F("livemode"), F("id"), name="endpoint_of_merchant", condition=~Q(status="deleted")
            ),
            models.Index(F("failing_since"), name="endpoint_failing", condition=Q(failing_since__isnull=False)),
            models.Index(F("catch_up_at"), name="endpoint_to_catch_up", condition=Q(catch_up_at__isnull=False)),
            models.Index(F("gave_up_at"), name="endpoint_given_up", condition=Q(gave_up_at__isnull=False)),
        ]

    __str__ = ids.shown_as(PREFIX)
