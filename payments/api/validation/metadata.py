"""Metadata: a small JSON object of the merchant's own, returned as it was sent."""

from decimal import Decimal
from typing import Any

from rest_framework.exceptions import ErrorDetail, ValidationError

from payments.api.validation.fields import CARD_DATA, Schema, StrictField
from payments.json_codecs.verbatim_json import Number, dumps
from payments.sensitive_data.card_numbers import holds_card_number
from payments.sensitive_data.redaction import names_cvc, suspicious

MAX_MEMBERS = 50
MAX_NAME_LENGTH = 40
MAX_BYTES = 16 * 1024
MAX_NESTING = 5
# No card number has more digits than 19.
MAX_CARD_NUMBER = 10**19


class Metadata(StrictField):
    """A JSON object within the limits above; its nesting counts from 1, its size is that of compact UTF-8.

    A card number is refused, and so is a security code under a name such as `cvc`.
    """

    default_error_messages = {
        "invalid_type": "This value must be an object.",
        "too_many": f"This object must have at most {MAX_MEMBERS} members.",
        "bad_name": f"The names in this object must have 1 to {MAX_NAME_LENGTH} characters.",
        "too_deep": f"This object must not nest deeper than {MAX_NESTING}.",
        "too_long": f"This object must take at most {MAX_BYTES} bytes.",
    }

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if data == []:
            # PHP writes every empty array so.
            return {}
        if not isinstance(data, dict):
            self.fail("invalid_type")
        if len(data) > MAX_MEMBERS:
            self.fail("too_many")
        text = dumps(data)
        if len(text.encode()) > MAX_BYTES:
            self.fail("too_long")
        self._inspect(data, 1)
        # One look at the whole text spares nearly every request the search through its parts.
        if suspicious(text) and (faults := self._card_data_in(data)):
            raise ValidationError(faults)
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

    def _card_data_in(self, value: Any) -> Any:
        """Return the faults of the parts of `value` with card data, by name or position; nothing if there are none."""
        if isinstance(value, dict):
            found = {name: self._card_data_under(name, inner) for name, inner in value.items()}
        elif isinstance(value, list):
            found = {str(place): self._card_data_in(inner) for place, inner in enumerate(value)}
        else:
            return self._fault() if any(map(holds_card_number, _texts_of(value))) else None
        return {name: faults for name, faults in found.items() if faults}

    def _card_data_under(self, name: str, value: Any) -> Any:
        if holds_card_number(name) or names_cvc(name, value):
            return self._fault()
        return self._card_data_in(value)

    def _fault(self) -> list[ErrorDetail]:
        return [ErrorDetail(CARD_DATA, code="card_data")]


def _texts_of(value: Any) -> list[str]:
    """Return the text of a value; a number is written without exponent and decimals."""
    if isinstance(value, (float, Number)):
        return [f"{int(Decimal(str(value)))}"] if abs(Decimal(str(value))) < MAX_CARD_NUMBER else []
    return [str(value)]
