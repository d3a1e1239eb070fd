"""Notifications are made from the inbox: once for each event and operator, or once a day.

The unique key of a row keeps an event from being announced twice, whatever queues forget or repeat.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User

from payments import clock
from payments.inbox import decisions, log_heads, rows, statements
from payments.inbox.entries import Entry, Section, Sort
from payments.inbox.entry_texts import decision_entry
from payments.inbox.sections import limit_of
from payments.inbox.sorts import APPROVALS, SORTS
from payments.models import MerchantAccess, Notification, NotificationChoice
from payments.models.merchants.merchant_access import Limit
from payments.models.operators.notification import KEY_MAX_LENGTH
from payments.sweeps.in_turn import alone

# The most entries of a sort that are looked at in one sweep.
ANNOUNCED_MAX = 50
# A recipient with so many unsent notifications gets no new ones until some are sent.
WAITING_MAX = 200
Mode = NotificationChoice.Mode
# Who may change a merchant's endpoints, and what is said about those that were disabled.
MANAGE_ENDPOINTS = (MerchantAccess.Role.OWNER, MerchantAccess.Role.DEVELOPER)
ENDPOINTS = next(sort for sort in SORTS if sort.name == "endpoints")
# What one sweep has read, by merchants and sort: most operators work for all merchants.
Found = dict[tuple[Limit, str], Section]


def announce() -> int:
    """Make the notifications of what is new, and the digests that are due; return how many."""
    found: Found = {}
    made = 0
    if settings.EMAIL_HOST:
        wanted = NotificationChoice.objects.exclude(mode=Mode.NONE).select_related("operator")
        for choice in wanted.filter(operator__is_active=True, operator__is_staff=True).exclude(operator__email=""):
            made += alone("announce", choice.pk, partial(_announce_to, choice, found))
        made += _announce_to_merchants(found)
    if settings.CHAT_WEBHOOK_URL:
        names = [sort.name for sort in SORTS]
        made += alone("announce", "chat", partial(_announce, None, settings.CHAT_WEBHOOK_MODE, names, found))
    return made


def _announce_to(choice: NotificationChoice, found: Found) -> int:
    made = _announce(choice.operator, choice.mode, choice.sorts, found)
    if statements.STATEMENTS in choice.sorts:
        made += _make(choice.operator, statements.mail_due(choice.operator))
    if log_heads.LOG_HEADS in choice.sorts:
        made += _make(choice.operator, log_heads.mail_due())
    return made


def _announce_to_merchants(found: Found) -> int:
    """Make the messages to merchants' own people about endpoints of theirs that kaha disabled; return how many."""
    merchants = rows.disabled_endpoints(None).order_by().values("merchant_id").distinct()
    access = MerchantAccess.objects.filter(merchant_id__in=merchants, role__in=MANAGE_ENDPOINTS, user__is_active=True)
    people = access.exclude(user__email="").select_related("user")
    return sum(alone("announce to merchants", each.pk, partial(_announce_endpoints, each, found)) for each in people)


def _announce_endpoints(access: MerchantAccess, found: Found) -> int:
    limit = frozenset({access.merchant_id})
    if (limit, ENDPOINTS.name) not in found:
        found[limit, ENDPOINTS.name] = ENDPOINTS.section(limit, ANNOUNCED_MAX)
    ours, theirs = f"{settings.ADMIN_ORIGIN}/admin/", f"{settings.MERCHANT_ORIGIN}/merchant/"
    entries = found[limit, ENDPOINTS.name].entries
    return _make(access.user, {entry.key: event_text(ENDPOINTS, entry).replace(ours, theirs) for entry in entries})


def warn_owners(access: MerchantAccess, what: str) -> None:
    """Have the other owners of a merchant get mail at once: somebody approves what others ask for, or soon does.

    `what` says in a few words what happened to their access.
    """
    owners = MerchantAccess.objects.filter(merchant=access.merchant, role=MerchantAccess.Role.OWNER)
    owners = (
        owners.filter(user__is_active=True)
        .exclude(user__password__startswith=UNUSABLE_PASSWORD_PREFIX)
        .exclude(user=access.user_id)
    )
    if not settings.EMAIL_HOST or access.role not in MerchantAccess.APPROVING:
        return
    name = " ".join(f"{access.name} ({access.user.email})".split())
    text = f"""New rights: {name} {what} as {access.role} at {" ".join(access.merchant.title.split())}.
They approve nothing of others for a day. If you expect no such thing, end the access now:
{settings.MERCHANT_ORIGIN}/merchant/payments/merchantaccess/"""
    made = clock.now()
    for user_id in owners.exclude(user__email="").values_list("user_id", flat=True):
        Notification.objects.create(operator_id=user_id, key=f"rights:{access.pk}:{made.isoformat()}", text=text)


def _announce(user: User | None, mode: str, wanted: list[str], found: Found) -> int:
    if Notification.objects.filter(operator=user, due_at__isnull=False)[:WAITING_MAX].count() >= WAITING_MAX:
        return 0
    if mode == Mode.EACH:
        new = ((each.sort, entry) for each in _sections(user, wanted, found) for entry in each.entries)
        return _make(user, {entry.key: event_text(sort, entry) for sort, entry in new})
    key = _digest_key(clock.now())
    if not key or Notification.objects.filter(operator=user, key=key).exists():
        return 0
    sections = [section for section in _sections(user, wanted, found) if section.count]
    return _make(user, {key: digest_text(sections)}) if sections else 0


def _sections(user: User | None, wanted: list[str], found: Found) -> Iterator[Section]:
    """Yield the sorts that `user` wants and may see; for None, the chat room, of all merchants."""
    limit = limit_of(user) if user else None
    for sort in SORTS:
        if sort.name not in wanted or (user and not user.has_perm(sort.permission)):
            continue
        if user and sort.name == APPROVALS:
            entries = [decision_entry(each, "decide") for each in decisions.to_decide(user, limit)]
            yield Section(sort, entries, len(entries))
            continue
        if (limit, sort.name) not in found:
            found[limit, sort.name] = sort.section(limit, ANNOUNCED_MAX)
        yield found[limit, sort.name]


def _make(user: User | None, texts: dict[str, str]) -> int:
    """Insert the notifications that are not there yet; return how many were tried."""
    keys = {key[:KEY_MAX_LENGTH]: text for key, text in texts.items()}
    known = set(Notification.objects.filter(operator=user, key__in=keys).values_list("key", flat=True))
    new = [Notification(operator=user, key=key, text=text) for key, text in keys.items() if key not in known]
    Notification.objects.bulk_create(new, ignore_conflicts=True)
    return len(new)


def _digest_key(now: datetime) -> str:
    """Return the key of today's digest; "" before its hour, in the display time zone of the installation."""
    local = now.astimezone(ZoneInfo(settings.DISPLAY_TIME_ZONE))
    return f"digest:{local.date()}" if local.hour >= settings.DIGEST_HOUR else ""


def event_text(sort: Sort, entry: Entry) -> str:
    """Return the message about one event: its sort, amount, time and link, and nothing about a payer."""
    moment = entry.until or entry.since
    when = f"{'by' if entry.until else 'since'} {moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else ""
    mode = "test mode" if entry.livemode is False else ""
    # Not every mail program has the sign of pesos.
    amount = entry.amount.replace("\N{NO-BREAK SPACE}", " ").replace("₱", "PHP ")
    facts = ", ".join(filter(None, (amount, when, mode)))
    what = entry.what if sort.is_impersonal else sort.label
    return f"{what}{': ' if facts else ''}{facts}\n{settings.ADMIN_ORIGIN}{entry.address}"


def digest_text(sections: Iterable[Section]) -> str:
    """Return the message of a day: how many there are of each sort, with the links to their lists."""
    lines = (f"{each.sort.label}: {each.count_text}\n{settings.ADMIN_ORIGIN}{each.sort.address}" for each in sections)
    return "\n".join(lines)
