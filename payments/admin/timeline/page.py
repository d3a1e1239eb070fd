"""The page of a charge with its timeline."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import strip_tags
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.formats import chips, link, money, search_link
from payments.admin.framework.merchant_access import limit_of
from payments.admin.timeline.changes import change_moments, ledger_moments, provider_moments, request_moments
from payments.admin.timeline.moment import Moment, Moments
from payments.admin.timeline.outside import (
    message_moments,
    payer_moments,
    provider_event_moments,
    report_moments,
    staff_moments,
    webhook_moments,
)
from payments.admin.timeline.panels import back_and_disputed, panels_of
from payments.admin.timeline.records import Records
from payments.admin.timeline.summary import (
    is_pending,
    known,
    payment_facts,
    payouts,
    references,
    settlement_of,
    settlements,
    sums_of,
)
from payments.domain.messages.spoken import spoken
from payments.domain.operators.duplicates import duplicates_of
from payments.domain.shared.charge_story import ChargeStory, writes_charge_story
from payments.ids import short_reference
from payments.models import Attempt, Charge, Event, Posting, Webhook


@dataclass(frozen=True)
class Contents:
    """What the page of a charge shows to its readers.

    `sources` read the entries of the timeline, which are called `name`, and `lists` have everything that it leaves out.
    `settled_in` yields links to what a charge was settled in. Acts of staff and a provider's references are for those
    `of_service`.
    """

    sources: Sequence[Callable[[Records], Moments]]
    name: Any
    lists: Sequence[type[Model]]
    settled_in: Callable[[Records], Iterator[object]]
    of_service: bool = False


FOR_OPERATORS = Contents(
    (
        request_moments,
        change_moments,
        provider_moments,
        provider_event_moments,
        ledger_moments,
        payer_moments,
        webhook_moments,
        message_moments,
        report_moments,
    ),
    _("requests, messages, ledger entries"),
    (Event, Attempt, Webhook, Posting),
    settlements,
    of_service=True,
)
FOR_MERCHANTS = Contents(
    (request_moments, change_moments, payer_moments, webhook_moments, message_moments),
    _("requests and messages"),
    (Event, Webhook),
    payouts,
)
# The newest entries that are said in words.
STORY_MAX = 12
NOTABLE_SECONDS = 0.05
MINUTE_SECONDS = 60
MAY_SEE_PEOPLE = "payments.view_auditentry"
# What is said to a caller, in the language of the reader first.
SPOKEN = {"en": _("In English"), "fil": _("In Filipino")}


def timeline(records: Records, with_address: bool, contents: Contents = FOR_OPERATORS) -> list[Moment]:
    """Return the entries of a charge's timeline in order, with the addresses of staff if `with_address`."""
    moments = [moment for read in contents.sources for moment in read(records)]
    moments += staff_moments(records, with_address) if contents.of_service else ()
    return sorted(moments, key=lambda moment: (moment.at, moment.kind))


def timeline_context(
    request: HttpRequest, charge: Charge, charges: QuerySet[Any], contents: Contents
) -> dict[str, Any]:
    """Return the context of the page with its `contents`, for somebody who may see `charges`."""
    records = Records(charge)
    sees_people = request.user.has_perm(MAY_SEE_PEOPLE) and limit_of(request) is None
    moments = timeline(records, sees_people, contents)
    languages = sorted(SPOKEN, key=lambda name: not str(get_language()).startswith(name))
    return {
        "duplicates": [_duplicate(charge, other) for other in duplicates_of(charge)],
        "spoken": [(name, SPOKEN[name], spoken(charge, records.refunds, records.disputes, name)) for name in languages],
        "reference": short_reference(charge.pk),
        "has_card": hasattr(charge.source, "card"),
        "is_pending": is_pending(charge),
        "rows": list(back_and_disputed(records)),
        "payment": known(payment_facts(records)),
        "references": list(references(records)) if contents.of_service else [],
        "sums": list(sums_of(records)),
        "settlement": list(settlement_of(records, contents.settled_in)),
        "story": story_of(moments),
        "name": contents.name,
        "moments": list(with_gaps(moments)),
        "more": records.more,
        "lists": [
            search_link(model, str(charge), gettext(str(model._meta.verbose_name_plural))) for model in contents.lists
        ],
        "panels": panels_of(request, charge, charges),
        "views": records.views if sees_people else None,
    }


def story_of(moments: list[Moment]) -> list[Moment]:
    """Return the newest entries that have words, newest first."""
    return [moment for moment in reversed(moments) if moment.in_words][:STORY_MAX]


@writes_charge_story
def story_for_merchants(charge: Charge) -> ChargeStory:
    """Return the story of a charge as its merchant's page has it, without markup."""
    whole = Charge.objects.select_related("merchant", "source__card")
    records = Records(whole.get(pk=charge.pk, merchant=charge.merchant_id))
    newest = story_of(timeline(records, False, FOR_MERCHANTS))
    return ChargeStory(
        money=[" ".join(map(str, filter(None, line[:3]))) for line in sums_of(records)],
        facts=[f"{name}: {strip_tags(str(value))}" for name, value in known(payment_facts(records))],
        happened=[(each.at, strip_tags(str(each.in_words))) for each in reversed(newest)],
    )


def with_gaps(moments: list[Moment]) -> Iterator[tuple[Moment, str]]:
    """Yield each entry with the time since the one before it, such as `+0.3 s`, if that is less than a minute."""
    before: datetime | None = None
    for moment in moments:
        seconds = (moment.at - before).total_seconds() if before else 0.0
        yield moment, f"+{seconds:.1f} s" if NOTABLE_SECONDS <= seconds < MINUTE_SECONDS else ""
        before = moment.at


def _duplicate(charge: Charge, other: Charge) -> tuple[str, SafeString, object]:
    """Return a possible duplicate: words, state and link."""
    seconds = round(abs(other.created_at - charge.created_at).total_seconds())
    less = gettext("less than 1")
    apart = f"{seconds // MINUTE_SECONDS} min" if seconds >= MINUTE_SECONDS else f"{seconds or less} s"
    later = gettext("The same card paid {amount} for the same thing {time} later.")
    earlier = gettext("The same card paid {amount} for the same thing {time} earlier.")
    words = later if other.created_at > charge.created_at else earlier
    words = words.format(amount=money(other.amount, other.currency), time=apart)
    return words, chips(other), link(Charge, other.pk, gettext("Open the other"))
