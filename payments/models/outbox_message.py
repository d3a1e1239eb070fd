from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.fast_model import FastModel

WHY_MAX_LENGTH = 100


class OutboxMessage(FastModel):
    """A message that waits to be sent by a worker, was sent, or never will be."""

    class Channel(models.TextChoices):
        EMAIL = "email", _("e-mail")
        SMS = "sms", "SMS"
        CHAT = "chat", "chat"

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        SENT = "sent", _("Sent")  # the server or service took it
        KEPT = "kept", _("Kept")  # of test mode, which sends nothing
        DROPPED = "dropped", _("Dropped")  # nobody to send it to, or not needed any more
        GIVEN_UP = "given_up", _("given up")  # refused for good, or not taken for three days

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.WAITING)
    # Why it was not sent.
    why = models.CharField(_("why"), max_length=WHY_MAX_LENGTH, blank=True, default="")
    # Tries that failed.
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)
    # When it is to be sent; while it is being sent, when another worker may do so.
    due_at = models.DateTimeField(null=True, blank=True, default=clock.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                name="%(class)s_waiting_is_due",
                condition=Q(state="waiting", due_at__isnull=False, ended_at__isnull=True)
                | ~Q(state="waiting") & Q(due_at__isnull=True, ended_at__isnull=False),
            ),
        ]
