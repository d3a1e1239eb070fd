"""Fields of forms that take a day or a number in one form only, so that none is read as another one."""

from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from payments.domain.merchants.merchants import MODES
from payments.typed_text import read_day, read_whole_number

# IDs count the milliseconds since the day before the first; Python's calendar ends on the day after the last.
FIRST_DAY, LAST_DAY = date(1970, 1, 2), date(9999, 12, 30)
MODE_CHOICES = [(mode, _(mode)) for mode in MODES]
LONGEST_OVERLAP = timedelta(days=30)


class DayInput(forms.DateInput):
    input_type = "date"

    def __init__(self) -> None:
        # Browsers want this form in any language, and show another one as empty.
        super().__init__(format="%Y-%m-%d")


class LongSelect(forms.Select):
    """A select of many choices, such as currencies, written once: Django's own renders a template for each of them."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        choices = tuple(self.choices)
        chosen = {str(key) for key, _ in choices}.intersection(self.format_value(value))
        given = flatatt(self.build_attrs(self.attrs, {"name": name, **(attrs or {})}))
        return format_html("<select{}>{}</select>", given, _options(choices, frozenset(chosen)))


@lru_cache(256)
def _options(choices: tuple[tuple[Any, Any], ...], chosen: frozenset[str]) -> SafeString:
    pairs = ((key, SafeString(" selected") if str(key) in chosen else "", text) for key, text in choices)
    return format_html_join("", '<option value="{}"{}>{}</option>', pairs)


class DayField(forms.DateField):
    """A day in ISO 8601, that has a day before and one after in every time zone."""

    widget = DayInput
    # Django's own forms read 03/04/2026 with the month first.
    input_formats = ("%Y-%m-%d",)
    default_validators = [MinValueValidator(FIRST_DAY), MaxValueValidator(LAST_DAY)]
    default_error_messages = {"invalid": _("Write the day as year, month and day, such as 2026-11-21.")}

    def strptime(self, value: str, format: str) -> date:  # noqa: A002 # Django's name
        return read_day(value)


class WholeNumberField(forms.IntegerField):
    """A number in ASCII digits alone; Django's own field takes `1_000`, `5.0` and digits of other scripts too."""

    default_error_messages = {"invalid": _("Write a whole number in digits alone, such as 14.")}

    def to_python(self, value: Any) -> int | None:
        if value in self.empty_values:
            return None
        try:
            return read_whole_number(str(value))
        except ValueError:
            raise ValidationError(self.error_messages["invalid"], "invalid") from None


def overlap_field(what: Any, longest: timedelta = LONGEST_OVERLAP) -> WholeNumberField:
    """Return a field for the hours during which the old one still works, `longest` at most; `what` is its help."""
    hours = longest // timedelta(hours=1)
    return WholeNumberField(label=_("Overlap in hours"), min_value=0, max_value=hours, initial=24, help_text=what)
