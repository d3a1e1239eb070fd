"""Metadata: a small JSON object of the client's own, returned as it was sent."""

from typing import Any

from payments.api.fields import CARD_DATA, Schema, StrictField
from payments.luhn import holds_card_number
from payments.redaction import names_cvc
from payments.rendering.wire import to_bytes

MAX_MEMBERS = 50
MAX_NAME_LENGTH = 40
MAX_BYTES = 16 * 1024
MAX_NESTING = 5


class Metadata(StrictField):
    """A JSON object within the bounds above; its nesting counts from itself, its size is that of compact UTF-8.

    It holds no card number, and no security code under a name of such.
    """

    default_error_messages = {
        "invalid_type": "This value must be an object.",
        "too_many": f"This object must have at most {MAX_MEMBERS} members.",
        "bad_name": f"The names in this object must have 1 to {MAX_NAME_LENGTH} characters.",
        "too_deep": f"This object must not nest deeper than {MAX_NESTING}.",
        "too_long": f"This object must take at most {MAX_BYTES} bytes.",
        "card_data": CARD_DATA,
    }

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("invalid_type")
        if len(data) > MAX_MEMBERS:
            self.fail("too_many")
        if len(to_bytes(data)) > MAX_BYTES:
            self.fail("too_long")
        self._inspect(data, 1)
        return data

    def schema(self) -> Schema:
        names = {"minLength": 1, "maxLength": MAX_NAME_LENGTH}
        return {
            "type": "object",
            "maxProperties": MAX_MEMBERS,
            "propertyNames": names,
            "additionalProperties": True,
        }

    def _inspect(self, value: Any, depth: int) -> None:
        if not isinstance(value, (dict, list)):
            if holds_card_number(str(value)):
                self.fail("card_data")
            return
        if depth > MAX_NESTING:
            self.fail("too_deep")
        if isinstance(value, dict):
            self._inspect_names(value)
        for inner in value.values() if isinstance(value, dict) else value:
            self._inspect(inner, depth + 1)

    def _inspect_names(self, value: dict[str, Any]) -> None:
        if not all(0 < len(name) <= MAX_NAME_LENGTH for name in value):
            self.fail("bad_name")
        if any(holds_card_number(name) or names_cvc(name, inner) for name, inner in value.items()):
            self.fail("card_data")
