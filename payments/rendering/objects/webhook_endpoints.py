"""Webhook endpoints as the API shows them (checkout, section 6)."""

from typing import Any

from payments.models import WebhookEndpoint
from payments.models.merchants.webhook_endpoint import PREFIX
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member

ENDPOINT_ID = "we_019aa3c5e2b27a9cb3e1f4d5c6b7a890"
# Those that a merchant may give it, and that it shows.
STATUSES = [each.value for each in WebhookEndpoint.Status if each != WebhookEndpoint.Status.DELETED]
STATUS = (
    "`enabled`; `paused`: events wait and are sent once it is enabled again; `disabled`: it gets no events, and those "
    "that wait are cancelled. After five days of nothing but failures kaha disables it."
)
WEBHOOK_ENDPOINT = ApiObject(
    "WebhookEndpoint",
    "A URL of yours that gets the events of the types it lists.",
    object=member.named("webhook_endpoint"),
    id=member.own_id(PREFIX, ENDPOINT_ID),
    url=member.web_address("Where events are sent.", "https://shop.example/kaha/events"),
    enabled_events=Member(
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "The types of its events; `*` stands for all, also those that come later.",
        ["dispute.created", "payout.paid"],
    ),
    status=member.choice(STATUSES, STATUS, "enabled"),
    description=member.or_null(member.text("What it is for, in your words; null without.", "Accounting")),
    livemode=member.livemode(),
    created_at=member.created(),
    updated_at=member.updated(),
    metadata=member.metadata(),
)
NEW_WEBHOOK_ENDPOINT = ApiObject(
    "NewWebhookEndpoint",
    "An endpoint with a new secret.",
    WEBHOOK_ENDPOINT,
    secret=member.text(
        "The secret that signs its events. It is shown this once, and in no answer that is replayed: roll it again if "
        "it was lost.",
        "whsec_…",
        required=False,
    ),
)
DELETED_WEBHOOK_ENDPOINT = ApiObject(
    "DeletedWebhookEndpoint",
    "What is left of a deleted endpoint.",
    id=Member(member.id_form(PREFIX), "The object's ID.", read=str, example=ENDPOINT_ID),
    object=member.named("webhook_endpoint"),
    deleted=Member({"type": "boolean", "const": True}, "Always `true`."),
)
WEBHOOK_TEST = ApiObject(
    "WebhookTest",
    "What the receiver did with a test event.",
    object=member.named("webhook_test"),
    delivered=member.flag("Whether it answered 2xx.", True),
    status=member.or_null(member.number("The HTTP status that it answered, null without an answer.", 200)),
    error=member.or_null(member.text("Why there was no answer, such as `timeout`; null with one.")),
    milliseconds=member.number("How long it took.", 84),
)


def render_new(endpoint: WebhookEndpoint, secret: str | None) -> dict[str, Any]:
    """Return the endpoint with its new secret, or without where the answer is stored."""
    shown = WEBHOOK_ENDPOINT.render(endpoint)
    return shown | ({"secret": secret} if secret else {})
