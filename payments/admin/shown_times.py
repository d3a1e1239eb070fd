"""Moments as an operator reads them: in the display time zone, with its offset from UTC."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.dateformat import format as in_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.clock import iso

NOTHING = "–"
NO_BREAK = "\N{NO-BREAK SPACE}"
NEAR_DAYS = {-1: _("yesterday"), 0: _("today"), 1: _("tomorrow")}
MINUTES_OF_HOUR = 60

register = template.Library()


def offset_text(moment: datetime) -> str:
    """Return the offset of an aware `moment` from UTC: `UTC`, `UTC+8` or `UTC−3:30`."""
    minutes = (moment.utcoffset() or timedelta()) // timedelta(minutes=1)
    hours, rest = divmod(abs(minutes), MINUTES_OF_HOUR)
    sign = "\N{MINUS SIGN}" if minutes < 0 else "+"
    return f"UTC{sign}{hours}" + (f":{rest:02}" if rest else "") if minutes else "UTC"


@register.filter
def moment_text(moment: datetime | None) -> str:
    """Return `moment` in the display time zone, to the second, for use within a sentence."""
    if moment is None:
        return NOTHING
    local = timezone.localtime(moment)
    return f"{_day_text(local)} {local:%H:%M:%S} {offset_text(local)}".replace(" ", NO_BREAK)


def day_text(day: date) -> str:
    """Return a day such as `28 Nov 2026`."""
    return in_format(day, "d M Y")


def _day_text(local: datetime) -> Any:
    away = (local.date() - timezone.localdate(clock.now())).days
    return NEAR_DAYS.get(away) or day_text(local)


@register.filter
def moment_brief(moment: datetime) -> SafeString:
    """Return `moment` to the minute, for a line that is read and not compared; its title is the whole."""
    local, whole = timezone.localtime(moment), moment_text(moment)
    machine, shown = f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", f"{_day_text(local)} {local:%H:%M}"
    return format_html('<time datetime="{}" title="{}">{}</time>', machine, whole, shown.replace(" ", NO_BREAK))


@register.filter
def moment_cell(moment: datetime | None) -> SafeString | str:
    """Return `moment` in the display time zone for a cell or a label; its title is the moment in UTC."""
    if moment is None:
        return NOTHING
    in_utc = moment.astimezone(UTC)
    return _time(moment, f"{in_utc:%d %b %Y %H:%M:%S} UTC", moment_text(moment))


def moment_in_list(moment: datetime | None) -> SafeString | str:
    """Return `moment` to the minute, for a cell of a list; its title is the moment as other pages show it."""
    if moment is None:
        return NOTHING
    local, today = timezone.localtime(moment), timezone.localdate(clock.now())
    day = NEAR_DAYS.get((local.date() - today).days) or in_format(local, "d M" if local.year == today.year else "d M Y")
    return _time(moment, moment_text(moment), f"{day} {local:%H:%M}".replace(" ", NO_BREAK))


def _time(moment: datetime, title: str, text: str) -> SafeString:
    machine = f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return format_html('<time datetime="{}" title="{}">{}</time>', machine, title, capfirst(text))


def moment_cells(name: str) -> dict[str, Callable[[Any], str | None]]:
    """Return the cells of a file for the moment in the field `name`: in UTC, and in the display time zone."""

    def local(row: Any) -> str | None:
        moment = getattr(row, name)
        return timezone.localtime(moment).isoformat(timespec="seconds") if moment else None

    return {name: lambda row: iso(getattr(row, name)) if getattr(row, name) else None, f"{name}_local": local}
