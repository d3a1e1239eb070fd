from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments.db.checks import checks
from payments.models.outbox_message import OutboxMessage

KEY_MAX_LENGTH = 500


class NotificationChoice(models.Model):
    """What an operator wants e-mail about, and how often. Without a row there is none."""

    class Mode(models.TextChoices):
        NONE = "none", "No e-mail"
        EACH = "each", "One e-mail for each event"
        DIGEST = "digest", "One e-mail a day"

    operator = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="notification_choice"
    )
    mode = models.CharField(max_length=6, choices=Mode.choices, default=Mode.NONE)
    # The names of the inbox's sorts, and `statements` for those of each month.
    sorts = models.JSONField(default=list)

    class Meta:
        default_permissions = ()
        constraints = checks(
            notification_mode_is_known=Q(mode__in=["none", "each", "digest"]),
        )

    def __str__(self) -> str:
        return self.mode


class Notification(OutboxMessage):
    """A message to an operator by e-mail, or to the chat room, about one event or a day; announced once.

    The row is the memory of what was announced, so it is kept for a while after it was sent.
    """

    # Empty: the chat room of the installation.
    operator = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+", db_index=False)
    # What it is about: the key of an entry of the inbox, the day of a digest, or the month of statements.
    key = models.CharField(max_length=KEY_MAX_LENGTH)
    text = models.TextField()
    # Sent together with others, in one message.
    bundled = models.BooleanField(default=False)

    class Meta:
        default_permissions = ()
        constraints = [
            *OutboxMessage.Meta.constraints,
            models.UniqueConstraint(
                F("operator"), F("key"), name="notification_once_to_an_operator", condition=Q(operator__isnull=False)
            ),
            models.UniqueConstraint(F("key"), name="notification_once_to_the_chat", condition=Q(operator__isnull=True)),
        ]
        indexes = [
            models.Index(F("due_at"), name="notification_due", condition=Q(due_at__isnull=False)),
            models.Index(F("operator"), F("ended_at"), name="notification_sent", condition=Q(state="sent")),
            models.Index(F("created_at"), name="notification_age"),
        ]

    def __str__(self) -> str:
        return self.key
