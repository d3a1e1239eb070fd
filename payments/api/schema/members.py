"""The members of response objects with their exact JSON Schema. For the OpenAPI document only."""

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from payments.api.validation.fields import Schema, Url
from payments.api.validation.strict import StrictSerializer

ID_DIGITS = "[0-9a-f]{32}"
MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$"
CURRENCY = "^[A-Z]{3}$"


SerializerClass = type[serializers.Serializer[Any]]


class Member(serializers.Field[Any, Any, Any, Any]):
    """A member with the JSON Schema `form` and the description `text`."""

    def __init__(self, form: Schema, text: str, *, required: bool = True, **options: Any) -> None:
        super().__init__(required=required, help_text=text, **options)
        self.form = form

    def schema(self) -> Schema:
        return dict(self.form)


def shown(
    name: str,
    text: str,
    base: SerializerClass = serializers.Serializer,
    /,
    **members: serializers.Field[Any, Any, Any, Any],
) -> SerializerClass:
    """Return a serializer for the object `name` with the description `text`, its `members` and those of `base`."""
    return type(f"{name}Serializer", (base,), {"__doc__": text, **members})


def id_form(prefix: str) -> Schema:
    """Return the schema of a public ID: `prefix`, `_` and 32 hex digits."""
    return {"type": "string", "pattern": f"^{prefix}_{ID_DIGITS}$"}


def named(name: str) -> Member:
    """Return the member `object` with the constant `name`."""
    return Member({"type": "string", "const": name}, f"Always `{name}`.")


def own_id(prefix: str, text: str = "The object's ID.") -> Member:
    return Member(id_form(prefix), text)


def text(meaning: str, **options: Any) -> Member:
    return Member({"type": "string"}, meaning, **options)


def or_null(member: Member) -> Member:
    """Return `member` as one that is always there, and null where nothing is known."""
    return Member({**member.form, "type": [member.form["type"], "null"]}, str(member.help_text))


def web_address(meaning: str, **options: Any) -> Member:
    return Member({"type": "string", "format": "uri"}, meaning, **options)


def number(meaning: str, **options: Any) -> Member:
    return Member({"type": "integer", "minimum": 0}, meaning, **options)


def echo(request: type[StrictSerializer], *names: str) -> dict[str, Member]:
    """Return the members `names` (default: all) of a request as responses show them: strings, with the same text."""
    fields = request().get_fields()
    return {
        name: (web_address if isinstance(fields[name], Url) else text)(
            str(fields[name].help_text), required=fields[name].required
        )
        for name in names or fields
    }


def flag(meaning: str) -> Member:
    return Member({"type": "boolean"}, meaning)


def choice(values: Iterable[str], meaning: str) -> Member:
    return Member({"type": "string", "enum": list(values)}, meaning)


def moment(meaning: str, **options: Any) -> Member:
    form = {"type": "string", "format": "date-time", "pattern": MOMENT}
    return Member(form, f"{meaning} ISO 8601, in UTC, to the microsecond.", **options)


def currency() -> Member:
    return Member({"type": "string", "pattern": CURRENCY}, "ISO 4217 code, upper case.")


def any_object(meaning: str, **options: Any) -> Member:
    return Member({"type": "object", "additionalProperties": True}, meaning, **options)


def livemode() -> Member:
    return flag("Whether the object was made with a live key; `false` means that no real money moves.")


def created() -> Member:
    return moment("Time of creation.")


def updated() -> Member:
    return moment("Time of the last change.")


def metadata() -> Member:
    return any_object("Data of the merchant's own, returned as it was sent, numbers digit for digit; `{}` without any.")
