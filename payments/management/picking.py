"""How commands pick webhooks: by the ID of their event, or by filters."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from payments.domain.merchants import merchants
from payments.domain.webhooks import resend
from payments.ids import parse_id
from payments.management import arguments
from payments.models import Webhook
from payments.models.webhook import WebhookQuerySet

FILTERS = ("merchant", "mode", "state", "type", "since", "until")
TIMES = "2026-11-21, 2026-11-21T10:30Z, or 24h for so long ago"


def add_filters(parser: CommandParser) -> None:
    parser.add_argument("--merchant", help=arguments.MERCHANT_HELP)
    parser.add_argument("--mode", choices=list(merchants.MODES))
    parser.add_argument("--state", choices=Webhook.State.values)
    parser.add_argument("--type", metavar="EVENT", help="the type of event, such as charge.succeeded")
    parser.add_argument("--since", type=arguments.moment, metavar="TIME", help=f"of events from then on: {TIMES}")
    parser.add_argument("--until", type=arguments.moment, metavar="TIME", help="of events before then, given likewise")


def picked(options: dict[str, Any]) -> WebhookQuerySet:
    """The webhooks that the filters in `options` leave; all where there is none. Raises CommandError."""
    merchant, mode = options["merchant"], options["mode"]
    return resend.matching(
        merchant=arguments.merchant_named(merchant) if merchant else None,
        livemode=merchants.MODES[mode] if mode else None,
        state=options["state"],
        event_type=options["type"],
        since=options["since"],
        until=options["until"],
    )


def named(texts: Iterable[str]) -> WebhookQuerySet:
    """The webhooks of the events with these IDs (`evt_…`). Raises CommandError where one has none."""
    by_id = {_event_id(text): text for text in texts}
    found = Webhook.objects.filter(event_id__in=list(by_id))
    missing = by_id.keys() - set(found.values_list("event_id", flat=True))
    if missing:
        nameless = ", ".join(sorted(by_id[uuid] for uuid in missing))
        raise CommandError(f"No webhook: {nameless}. Only events of charges whose source has a notify URL have one.")
    return found


def _event_id(text: str) -> UUID:
    uuid = parse_id("evt", text)
    if uuid is None:
        raise CommandError(f"{text!r} is no event's ID (evt_…).")
    return uuid
