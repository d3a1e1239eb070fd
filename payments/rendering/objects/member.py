"""The kinds of members that objects of the API have, each with its JSON Schema and how it is shown."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from payments.clock import iso
from payments.ids import public_id
from payments.rendering.objects.api_object import ApiObject, Member, Schema, none_if_empty

ID_DIGITS = "[0-9a-f]{32}"
MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$"
CURRENCY = "^[A-Z]{3}$"
EXAMPLE_MOMENT = "2026-11-21T01:43:00.123456Z"


def id_form(prefix: str) -> Schema:
    """Return the schema of a public ID: `prefix`, `_` and 32 hex digits."""
    return {"type": "string", "pattern": f"^{prefix}_{ID_DIGITS}$"}


def named(name: str) -> Member:
    """Return the member `object` with the constant `name`."""
    return Member({"type": "string", "const": name}, f"Always `{name}`.")


def id_of(prefix: str, text: str, example: str | None = None, **options: Any) -> Member:
    return Member(id_form(prefix), text, example, convert=partial(public_id, prefix), **options)


def own_id(prefix: str, example: str | None = None, text: str = "The object's ID.", **options: Any) -> Member:
    return id_of(prefix, text, example, **options)


def nested(shown: ApiObject, text: str, *, many: bool = False, required: bool = True, **options: Any) -> Member:
    """Return a member that shows a row, or `many`, as `shown` does; its example is that one's where it is required."""
    render = shown.render
    convert = (lambda rows: list(map(render, rows))) if many else render
    example = shown.example if required and not many else None
    return Member(shown, text, many=many, required=required, convert=convert, **{"example": example, **options})


def text(meaning: str, example: str | None = None, **options: Any) -> Member:
    return Member({"type": "string"}, meaning, example, **options)


def text_if_any(meaning: str, example: str | None = None, **options: Any) -> Member:
    """Return an optional text, which is left out where it is empty."""
    return text(meaning, example, required=False, convert=none_if_empty, **options)


def or_null(member: Member) -> Member:
    """Return `member` as one that is always there, and null where nothing is known."""
    return replace(member, nullable=True, convert=member.convert or none_if_empty)


def web_address(meaning: str, example: str | None = None, **options: Any) -> Member:
    return Member({"type": "string", "format": "uri"}, meaning, example, **options)


def web_address_template(meaning: str, example: str | None = None, **options: Any) -> Member:
    """Return an address that may have a placeholder in braces (RFC 6570)."""
    return Member({"type": "string", "format": "uri-template"}, meaning, example, **options)


def number(meaning: str, example: int | None = None, **options: Any) -> Member:
    return Member({"type": "integer", "minimum": 0}, meaning, example, **options)


def flag(meaning: str, example: bool | None = None, **options: Any) -> Member:
    return Member({"type": "boolean"}, meaning, example, **options)


def choice(values: Iterable[str], meaning: str, example: str | None = None, **options: Any) -> Member:
    return Member({"type": "string", "enum": list(values)}, meaning, example, **options)


def moment(meaning: str, example: str | None = None, **options: Any) -> Member:
    form = {"type": "string", "format": "date-time", "pattern": MOMENT}
    return Member(form, f"{meaning} ISO 8601, in UTC, to the microsecond.", example, convert=iso, **options)


def currency(**options: Any) -> Member:
    return Member({"type": "string", "pattern": CURRENCY}, "ISO 4217 code, upper case.", "PHP", **options)


def any_object(meaning: str, example: Any = None, **options: Any) -> Member:
    return Member({"type": "object", "additionalProperties": True}, meaning, example, **options)


def livemode(example: bool = False, **options: Any) -> Member:
    meaning = "Whether the object was made with a live key; `false` means that no real money moves."
    return flag(meaning, example, **options)


def created(**options: Any) -> Member:
    return moment("Time of creation.", EXAMPLE_MOMENT, **options)


def updated(**options: Any) -> Member:
    return moment("Time of the last change.", EXAMPLE_MOMENT, **options)


def metadata(**example: Any) -> Member:
    meaning = "Data of the merchant's own, returned as it was sent, numbers digit for digit; `{}` without any."
    return any_object(meaning, example, read="metadata or {}")
