"""Saved views as files that come by themselves: made by a worker as their reader would, and sealed.

Whose they are is asked before a file is made, when it is stored, and at each download: who sees other rows than it was
made of does not get it. The end of a right stops a schedule; a fault is tried again.
"""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from hashlib import sha256
from itertools import chain
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.apps import apps
from django.conf import settings
from django.contrib.admin.exceptions import DisallowedModelAdminLookup, NotRegistered
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.sites import all_sites
from django.contrib.auth.models import User
from django.core.exceptions import EmptyResultSet, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, QueryDict
from django.utils import timezone, translation
from django.utils.translation import gettext, gettext_noop

from payments import clock
from payments.admin.lists.file import PIECE_BYTES, Lines
from payments.admin.lists.mode import mode_of
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.due_rows import DueRows, next_lookup_at
from payments.domain.operators.file_schedules import change, put
from payments.domain.payouts.schedules import next_run_at
from payments.models import FileSchedule, MerchantAccess, Notification, SavedView, SentFile
from payments.models.merchants.merchant_access import membership_of
from payments.sweeps.in_turn import Moment, each_in_turn
from payments.vault import Place, Purpose, seal, unseal

MOST_SCHEDULES, MOST_LINES = 20, 100_000
# Of one schedule, the newest: a month of daily ones, and as many that are asked for.
MOST_FILES = 60
# The lease is longer than a list may take. A month that is not final yet is looked at again.
DUE, NEXT_LOOK = DueRows(lease=timedelta(minutes=20), same=()), timedelta(hours=1)
# In the reader's time zone; each view has a minute of its own, so that not all are due at once.
HOUR, MINUTES = 7, 60
NOT_SEEN = gettext_noop("Its maker may not see or export this list any more.")
NO_FILTERS = gettext_noop("The list does not have these filters any more.")
# What a filter raises about its own value.
OF_FILTERS = (ValueError, TypeError, LookupError, ValidationError)


class RightGone(Exception):
    """The right to a file is gone, or its list; the message says which."""


class NotYet(Exception):
    """What the file is about has not ended yet."""


def send_due() -> int:
    """Make the files that are due, those of each merchant in turn; return how many were dealt with."""
    return each_in_turn(FileSchedule.objects.filter(due_at__lte=Moment()), "due_at", _send)


def following(view: SavedView, interval: str) -> datetime | None:
    """Return the next regular moment of a view, in the time zone of its owner."""
    return next_run_at(interval, clock.now(), time(HOUR, view.pk.int % MINUTES, tzinfo=_zone_of(view.user)))


def set_schedule(request: HttpRequest, page: Any, view: SavedView) -> str | None:
    """Send `view` as a form asks; return why not where that is refused. The lock of its owner counts for schedules."""
    membership, every = membership_of(request.user), request.POST["every"]
    if every not in dict(FileSchedule.INTERVALS) or not page.may_send(request):
        return gettext(NOT_SEEN)
    own: dict[str, Any] = {"view": view, "merchant": membership and membership.merchant}
    if FileSchedule.objects.filter(view__user=view.user).exclude(**own).count() >= MOST_SCHEDULES:
        return gettext("You have {count} scheduled files. Delete one first.").format(count=MOST_SCHEDULES)
    next_at, is_for_colleagues = following(view, every), bool(membership and request.POST.get("colleagues"))
    mode, whom = mode_of(request), "for colleagues too" if is_for_colleagues else "for nobody else"
    values: dict[str, Any] = {
        "interval": every,
        "livemode": mode == "live",
        "for_colleagues": is_for_colleagues,
        "next_at": next_at,
    }
    detail = f"{every} list of {view.model}, {mode}, {view.query or 'all'}, {whom}"
    put(**own, detail=detail, **values, due_at=next_at, stopped="", tries=0)
    return None


def request_now(user_id: int, merchant_id: UUID | None) -> HttpRequest | None:
    """Return a request of somebody with the rights that they have now on a site; None where they have left it."""
    request, user = HttpRequest(), User.objects.get(pk=user_id)
    if merchant_id:
        found = MerchantAccess.objects.memberships(user).filter(merchant=merchant_id).select_related("merchant")
        user.membership = found.first()  # type: ignore[attr-defined]
    request.user = user
    return request if user.is_active and (membership_of(user) if merchant_id else user.is_staff) else None


def asked(schedule: FileSchedule, user_id: int) -> tuple[Any, HttpRequest]:
    """Return the page of the list, and the request by which a person sees it now; raise RightGone for no right."""
    request, sites = request_now(user_id, schedule.merchant_id), list[Any](all_sites)
    site = next(site for site in sites if site.is_for_operators != bool(schedule.merchant_id))
    try:
        page = site.get_model_admin(apps.get_model(schedule.view.model))
    except (LookupError, NotRegistered):
        raise RightGone(NO_FILTERS) from None
    if request is None or not page.may_send(request):
        raise RightGone(NOT_SEEN)
    request.method, request.GET = "GET", QueryDict(schedule.view.query)
    vars(request).update(session={"mode": "live" if schedule.livemode else "test"}, people_site=site)
    return page, request


def rights_of(schedule: FileSchedule, user_id: int) -> bytes | None:
    """Return a digest of which rows a person sees of the list of their own file or a colleague's; None for no right."""
    if not schedule.for_colleagues and user_id != schedule.view.user_id:
        return None
    try:
        page, request = asked(schedule, user_id)
        sql, values = page.get_queryset(request).order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        sql, values = "", ()
    except RightGone:
        return None
    # A list of what is late moves with the time, and nobody's rights do.
    seen = sorted(str(value) for value in values if not isinstance(value, datetime))
    return sha256(f"{sql}{seen}".encode()).digest()


def lines_of(file: SentFile) -> Iterator[bytes]:
    """Return the content of a file in pieces. Raises VaultError, VaultUnavailable."""
    unpacking = zlib.decompressobj()
    first = unpacking.decompress(b64decode(unseal(file.sealed_content, _place(file))), PIECE_BYTES)
    return chain([first], iter(lambda: unpacking.decompress(unpacking.unconsumed_tail, PIECE_BYTES), b""))


def _send(row: FileSchedule) -> int:
    claimed = DUE.claim(FileSchedule.objects.filter(pk=row.pk).select_related("view__user", "merchant"), _counted)
    for schedule in claimed:
        try:
            _finish(schedule, _made(schedule))
        except RightGone as why:
            _stop(schedule, str(why))
        except NotYet:
            DUE.put_off(schedule, until=clock.now() + NEXT_LOOK)
        except Exception:
            DUE.put_off(schedule, until=next_lookup_at(clock.now(), schedule.tries - 1))
            # Until the next regular one, it is said once.
            run, words = f"fault before {schedule.next_at}", gettext_noop("A scheduled file fails, and is tried again")
            _announce(schedule, schedule.view.user, run, "change", words)
            raise
    return len(claimed)


def _counted(schedule: FileSchedule) -> dict[str, Any]:
    """Return what a claim sets: after a regular file the next one is that after now, however late this one is."""
    is_regular = schedule.next_at and schedule.next_at <= clock.now()
    next_at = following(schedule.view, schedule.interval) if is_regular else schedule.next_at
    return {"next_at": next_at, "tries": schedule.tries + 1}


def _made(schedule: FileSchedule) -> SentFile:
    page, request = asked(schedule, schedule.view.user_id)
    rights = rights_of(schedule, schedule.view.user_id) or b""
    file = SentFile(schedule=schedule, merchant=schedule.merchant, rights=rights, size=0)
    packing, packed = zlib.compressobj(), bytearray()
    try:
        with timezone.override(_zone_of(schedule.view.user)), translation.override(settings.LANGUAGE_CODE):
            for piece in Lines(page.scheduled_lines(request, MOST_LINES), lambda: None):
                file.size += len(piece)
                packed += packing.compress(piece)
    except (IncorrectLookupParameters, DisallowedModelAdminLookup, Http404) as error:
        # The first one stands for all that a filter raises, an outage too.
        if (cause := next(iter(error.args), None)) and not isinstance(cause, (*OF_FILTERS, str)):
            raise cause from error
        raise RightGone(NO_FILTERS) from error
    file.sealed_content = seal(b64encode(packed + packing.flush()).decode(), _place(file))
    return file


@transaction.atomic
def _finish(schedule: FileSchedule, file: SentFile) -> None:
    """Store the file, record it and announce it, unless the schedule was changed or claimed meanwhile."""
    owner, rights = schedule.view.user, file.rights
    if rights_of(schedule, owner.pk) != rights:
        # A right that changed meanwhile leads to another file, or to none.
        DUE.put_off(schedule, until=clock.now())
    elif DUE.change(schedule, due_at=schedule.next_at, tries=0):
        file.save(force_insert=True)
        SentFile.objects.filter(pk__in=schedule.files.order_by("-id").values("pk")[MOST_FILES:]).delete()
        found = MerchantAccess.objects.filter(merchant=schedule.merchant_id).exclude(role="").select_related("user")
        people = {owner, *(each.user for each in found if rights_of(schedule, each.user_id) == rights)}
        names = ", ".join(sorted(user.get_username() for user in people))
        what = f"list of {schedule.view.model}, {schedule.view.query or 'all'}"
        audit_log.record(Action.EXPORTED, schedule, detail=f"{what}, {file.size} bytes, for {names}")
        for user in people:
            _announce(schedule, user, file.pk, "download", gettext_noop("A scheduled file is ready"))


@transaction.atomic
def _stop(schedule: FileSchedule, why: str) -> None:
    if change(schedule, why, next_at=None, due_at=None, stopped=why, tries=0):
        _announce(schedule, schedule.view.user, clock.now(), "change", gettext_noop("A scheduled file has stopped"))


def _announce(schedule: FileSchedule, user: User, what: object, step: str, words: str) -> None:
    """Have `user` get mail with the address of a page, in their language, and nothing of what is in the list."""
    site, title = ("MERCHANT", schedule.merchant.title) if schedule.merchant else ("ADMIN", "")
    address = f"{getattr(settings, f'{site}_ORIGIN')}/{site.lower()}/payments/fileschedule/{schedule.pk}/{step}/"
    if settings.EMAIL_HOST and user.email and user.is_active:
        with translation.override(_chosen(user, "language") or settings.LANGUAGE_CODE):
            # Who works for two merchants opens the page on the site of this one.
            text = "\n".join(filter(None, [gettext(words), " ".join(title.split()), address]))
        Notification.objects.get_or_create(operator=user, key=f"file:{schedule.pk}:{what}", defaults={"text": text})


def _zone_of(user: User) -> ZoneInfo:
    try:
        return ZoneInfo(_chosen(user, "time_zone") or settings.DISPLAY_TIME_ZONE)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo(settings.DISPLAY_TIME_ZONE)


def _chosen(user: User, name: str) -> str:
    """Return what a person has chosen for all pages, "" for nothing."""
    return getattr(getattr(user, "operator_profile", None), name, "")


def _place(file: SentFile) -> Place:
    return Place(Purpose.SECRET, file.pk, file.pk, "sent_file")
