"""What writes a message to a payer: in the transaction of what causes it, and once."""

from uuid import UUID

from django.conf import settings

from payments.db.writes import Insert
from payments.models import PayerMessage
from payments.webhooks.wake_up import BackgroundCall, TaskSender

Channel = PayerMessage.Channel
# The setting that says which server or service takes the messages of a channel.
SERVERS = {Channel.EMAIL: "EMAIL_HOST", Channel.SMS: "SMS_URL", Channel.CHAT: "CHAT_WEBHOOK_URL"}
# A message may wait a moment: many captures in a row wake a worker once.
PAUSE_SECONDS = 1.0
wake_worker = BackgroundCall(TaskSender(settings.CELERY_BROKER_URL, "send_messages"), PAUSE_SECONDS).wake_worker


def is_ready(livemode: bool, channel: str) -> bool:
    """Return whether this installation sends messages by a channel; those of test mode are only kept."""
    return not livemode or bool(getattr(settings, SERVERS[Channel(channel)]))


def message_of(
    merchant_id: UUID,
    livemode: bool,
    kind: str,
    about_id: UUID,
    sequence: int,
    channel: str = Channel.EMAIL,
    locale: str = "en",
    recipient: str = "",
) -> Insert:
    """Return the insert of a message of one of the `kinds` about an object, to be sent at once.

    `sequence` is the object's version that causes it, or counts those without a change, such as reminders. It goes to
    `recipient`, or to the address that is known when it is sent. The insert
    fails with IntegrityError where the message is in the outbox already.
    """
    row = PayerMessage(
        merchant_id=merchant_id,
        livemode=livemode,
        kind=kind,
        channel=channel,
        about_id=about_id,
        sequence=sequence,
        locale=locale,
        recipient=recipient,
    )
    return Insert(row, after_commit=wake_worker)
