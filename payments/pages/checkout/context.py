"""The form of a checkout as its page shows it: the ways to pay, and the fields with what is in them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from payments import sourcetypes
from payments.pages.checkout import countries, fields
from payments.pages.checkout.fields import Field
from payments.pages.checkout.form import BILLING, SHIPPING, Asked, PayForm
from payments.sourcetypes import SourceType


@dataclass(frozen=True, slots=True)
class Problem:
    """What stands above the form: what happened, and what to do."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A field as the page shows it: its name in the form, what is in it and what is wrong with it."""

    field: Field
    name: str
    autocomplete: str
    value: str = ""
    error: str = ""
    hint: str = ""
    is_first_wrong: bool = False


BLANK_CARD = tuple(Box(each, each.name, each.autocomplete) for each in fields.CARD)


def shown_form(asked: Asked, form: PayForm, problem: Problem | None = None) -> dict[str, Any]:
    """Return the context of the fields of a checkout."""
    boxes = _Boxes(form)
    is_card_blank = not (form.errors or form.refused_card or form.values.get(fields.HOLDER.name))
    return {
        "problem": problem or problem_of(form),
        "contact": boxes.of(asked.contact),
        "contact_known": _known(asked.contact, form),
        "shipping": boxes.of_address(SHIPPING, asked.countries) if asked.countries else None,
        "billing": boxes.of_address(BILLING, countries.all_codes()) if asked.billing else None,
        "billing_is_same": form.values.get("same", "" if form.errors else "1"),
        "declined": bool(form.refused_card),
        "way_error": form.errors.get("way", ""),
        "ways": tuple((way, _initials(way, asked.types)) for way in map(sourcetypes.shown, asked.types)),
        "chosen": form.way,
        "is_card_blank": is_card_blank,
        "card_fields": BLANK_CARD if is_card_blank else boxes.of(fields.CARD),
    }


def shown_field(form: PayForm, one: Field) -> Box:
    """Return the only field of a form."""
    return _Boxes(form).of([one])[0]


def problem_of(form: PayForm) -> Problem | None:
    """Return what stands above a form with errors."""
    count = len(form.errors)
    if not count:
        return None
    title = _("Please check 1 field") if count == 1 else _("Please check %(count)s fields") % {"count": count}
    return Problem(title, _("Nothing was paid yet. What you entered is still here."))


class _Boxes:
    """Makes the boxes of a form; the first with an error gets the cursor."""

    def __init__(self, form: PayForm) -> None:
        self._form, self._first = form, next(iter(form.errors), "")

    def of(self, wanted: Iterable[Field], kind: str = "") -> list[Box]:
        """Return the boxes of fields, of an address of this `kind` if given."""
        return [self._box(each, kind) for each in wanted]

    def of_address(self, kind: str, codes: tuple[str, ...]) -> dict[str, Any]:
        """Return the boxes of an address, its countries, and in one line what is known of it."""
        chosen = self._form.values.get(f"{kind}-country") or (countries.HOME if countries.HOME in codes else codes[0])
        parts = (self._form.values.get(f"{kind}-{name}", "") for name in ("name", "line1", "city"))
        has_error = any(name.startswith(f"{kind}-") for name in self._form.errors)
        boxes = {box.field.name: box for box in self.of(fields.ADDRESS, kind)}
        pairs = [[boxes["barangay"], boxes["city"]], [boxes["state"], boxes["postal_code"]]]
        return {
            "kind": kind,
            "rows": [[boxes["name"]], [boxes["line1"]], [boxes["line2"]], *pairs],
            "country": chosen,
            "countries": countries.named(codes),
            "known": "" if has_error else ", ".join(filter(None, parts)),
        }

    def _box(self, one: Field, kind: str) -> Box:
        name = f"{kind}-{one.name}" if kind else one.name
        error = self._form.errors.get(name, "")
        hint = ""
        if one is fields.NUMBER and self._form.refused_card:
            error = _("The card ending in %(last4)s was declined. Enter another card") % {
                "last4": self._form.refused_card
            }
        elif one is fields.NUMBER and self._form.errors and not error:
            hint = _("For your safety the card is not kept: enter it again")
        return Box(
            field=one,
            name=name,
            autocomplete=f"{kind} {one.autocomplete}" if kind else one.autocomplete,
            value="" if one.secret else self._form.values.get(name, ""),
            error=error,
            hint=hint,
            is_first_wrong=bool(error) and name == self._first,
        )


def _known(wanted: list[Field], form: PayForm) -> str:
    """Return in one line what is known of all these fields; "" where one is empty or wrong."""
    values = [form.values.get(each.name, "") for each in wanted]
    return ", ".join(values) if all(values) and not any(each.name in form.errors for each in wanted) else ""


def _initials(way: SourceType, offered: tuple[str, ...]) -> str:
    """Return the first letter of a wallet, two where an earlier one of the offered begins with it."""
    earlier = offered[: offered.index(way.name)]
    is_taken = any(sourcetypes.shown(name).label[0] == way.label[0] for name in earlier)
    return way.label[:2] if is_taken else way.label[0]
