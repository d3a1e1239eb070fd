import argparse
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.domain.merchants import merchants
from payments.domain.webhooks import resend
from payments.ids import parse_id, public_id
from payments.management import arguments
from payments.management.tables import in_columns, one_line, utc
from payments.models import Webhook, WebhookAttempt
from payments.models.webhook import WebhookQuerySet
from payments.sensitive_data.redaction import readable

LISTED = 50
LISTED_MAX = 1_000
TRIES_SHOWN = 100
FILTERS = ("merchant", "mode", "state", "type", "since", "until")
TIMES = "2026-11-21, 2026-11-21T10:30Z, or 24h for so long ago"
KINDS = {"charge": "ch", "refund": "re"}


class Command(BaseCommand):
    help = "Lists webhooks to merchants and their attempts, and sends them again."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|show|resend")
        newest = verbs.add_parser("list", help="the newest webhooks that match the filters")
        _add_filters(newest)
        newest.add_argument("--limit", type=_limit, default=LISTED, help=f"1 to {LISTED_MAX} (default: {LISTED})")
        one = verbs.add_parser("show", help="one webhook and its attempts")
        one.add_argument("id", metavar="evt_…", help="the event's ID")
        again = verbs.add_parser("resend", help="sends again at once: by ID, or all that match the filters")
        again.add_argument("ids", nargs="*", metavar="evt_…", help="events' IDs")
        _add_filters(again)
        again.add_argument("--yes", action="store_true", help="confirm to send all that match the filters")

    def handle(self, *, verb: str, **options: Any) -> None:
        {"list": self._list, "show": self._show, "resend": self._resend}[verb](options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = _picked(options)
        shown = rows.select_related("event").defer("event__payload").order_by("-id")[: options["limit"]]
        lines = in_columns([HEADINGS, *map(_cells, shown)])
        self.stdout.write("\n".join([*lines, "", f"{len(lines) - 1} shown of {rows.count()}."]))

    def _show(self, options: dict[str, Any]) -> None:
        found = _named([options["id"]]).select_related("event", "merchant").defer("event__payload").get()
        tries = found.attempts.order_by("-number")[:TRIES_SHOWN]
        lines = [*in_columns(_facts(found)), "", *in_columns([TRY_HEADINGS, *map(_try_cells, tries)])]
        self.stdout.write("\n".join(lines))

    def _resend(self, options: dict[str, Any]) -> None:
        filtered = any(options[name] for name in FILTERS)
        if filtered == bool(options["ids"]):
            raise CommandError("Name events by their IDs, or pick them by filters, such as --state exhausted.")
        rows = _picked(options) if filtered else _named(options["ids"])
        count = rows.count()
        if filtered and not options["yes"]:
            self.stdout.write(f"{count} would be sent again. Say so with --yes.")
            return
        sent = resend.resend(rows)
        self.stdout.write(f"{sent} of {count} will be sent again now.")
        if sent < count:
            self.stdout.write("The others are being sent at this moment.")


def _limit(text: str) -> int:
    limit = arguments.whole_number(text)
    if not 1 <= limit <= LISTED_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {LISTED_MAX}")
    return limit


HEADINGS = ("EVENT", "TYPE", "MODE", "STATE", "TRIES", "CREATED", "NEXT TRY", "URL")
TRY_HEADINGS = ("TRY", "STARTED", "TOOK", "ANSWER", "")


def _cells(row: Webhook) -> tuple[object, ...]:
    event_id = public_id("evt", row.event_id)
    return event_id, row.event.type, _mode(row), row.state, row.tries, utc(row.created_at), utc(row.due_at), row.url


def _facts(row: Webhook) -> list[tuple[str, object]]:
    kind = KINDS[row.event.type.partition(".")[0]]
    return [
        ("event", public_id("evt", row.event_id)),
        ("type", row.event.type),
        ("object", f"{public_id(kind, row.event.object_id)}, its event {row.event.sequence}"),
        ("merchant", f"{public_id('mer', row.merchant_id)} {row.merchant.title}"),
        ("mode", _mode(row)),
        ("url", row.url),
        ("state", row.state),
        ("created", utc(row.created_at)),
        ("next try", utc(row.due_at)),
        ("tries", row.tries),
    ]


def _try_cells(row: WebhookAttempt) -> tuple[object, ...]:
    detail = readable(bytes(row.answer)) if row.status else row.reason
    result = row.status or row.error
    return row.number, utc(row.started_at), f"{row.milliseconds} ms", result, one_line(detail)


def _mode(row: Webhook) -> str:
    return "live" if row.livemode else "test"


def _add_filters(parser: CommandParser) -> None:
    parser.add_argument("--merchant", help=arguments.MERCHANT_HELP)
    parser.add_argument("--mode", choices=list(merchants.MODES))
    parser.add_argument("--state", choices=Webhook.State.values)
    parser.add_argument("--type", metavar="EVENT", help="the type of event, such as charge.succeeded")
    parser.add_argument("--since", type=arguments.moment, metavar="TIME", help=f"of events from then on: {TIMES}")
    parser.add_argument("--until", type=arguments.moment, metavar="TIME", help="of events before then, given likewise")


def _picked(options: dict[str, Any]) -> WebhookQuerySet:
    """Return the webhooks that match the filters in `options`; raise CommandError."""
    merchant, mode = options["merchant"], options["mode"]
    return resend.matching(
        merchant=arguments.merchant_named(merchant) if merchant else None,
        livemode=merchants.MODES[mode] if mode else None,
        state=options["state"],
        event_type=options["type"],
        since=options["since"],
        until=options["until"],
    )


def _named(texts: Iterable[str]) -> WebhookQuerySet:
    """Return the webhooks of the events with these IDs (`evt_…`); raise CommandError if one has none."""
    by_id = {}
    for text in texts:
        uuid = parse_id("evt", text)
        if uuid is None:
            raise CommandError(f"{text!r} is no event's ID (evt_…).")
        by_id[uuid] = text
    found = Webhook.objects.filter(event_id__in=list(by_id))
    missing = by_id.keys() - set(found.values_list("event_id", flat=True))
    if missing:
        nameless = ", ".join(sorted(by_id[uuid] for uuid in missing))
        raise CommandError(f"No webhook: {nameless}. Only events of charges whose source has a notify URL have one.")
    return found
