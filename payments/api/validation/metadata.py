"""Metadata: a small JSON object of the merchant's own, returned as it was sent."""

from decimal import Decimal
from typing import Any

from rest_framework.exceptions import ErrorDetail, ValidationError

from payments.api.validation.fields import CARD_DATA, Schema, StrictField
from payments.json_codecs.verbatim_json import Number, dumps
from payments.sensitive_data.card_numbers import holds_taken_card
from payments.sensitive_data.redaction import names_cvc, suspicious

MAX_MEMBERS = 50
MAX_NAME_LENGTH = 40
MAX_BYTES = 16 * 1024
MAX_NESTING = 5
# A value of metadata as the document has it: names are bounded at every depth.
VALUE = "MetadataValue"
_ANY_VALUE = {"$ref": f"#/components/schemas/{VALUE}"}
NAMED: Schema = {
    "propertyNames": {"minLength": 1, "maxLength": MAX_NAME_LENGTH},
    "additionalProperties": _ANY_VALUE,
}
VALUE_FORM: Schema = {"description": "Any JSON value.", **NAMED, "items": _ANY_VALUE}
MEANING = (
    f"Data of the merchant's own: at most {MAX_MEMBERS} members, names of 1 to {MAX_NAME_LENGTH} characters at every "
    f"depth, nested at most {MAX_NESTING} deep, {MAX_BYTES // 1024} KiB in all. `null` counts as left out, and `[]` as "
    "`{}`."
)
# No card number has more digits than 19.
MAX_CARD_NUMBER = 10**19


class Metadata(StrictField):
    """A JSON object within the limits above; its nesting counts from 1, its size is that of compact UTF-8.

    A card number is refused, and so is a security code under a name such as `cvc`.
    """

    default_error_messages = {
        "invalid_type": "This value must be an object.",
        "too_many": f"This object must have at most {MAX_MEMBERS} members.",
        "bad_name": f"A name in metadata must have 1 to {MAX_NAME_LENGTH} characters.",
        "card_data": CARD_DATA,
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
        # One look at the whole text spares nearly every request the search for card data in its parts.
        if faults := self._faults_in(data, suspicious(text)):
            raise ValidationError(faults)
        return data

    def schema(self) -> Schema:
        return {"type": "object", "maxProperties": MAX_MEMBERS, **NAMED}

    def _faults_in(self, value: Any, may_hold_card_data: bool, depth: int = 1) -> Any:
        """Return the faults of the parts of `value` by name or position; nothing if there are none."""
        if not isinstance(value, (dict, list)):
            is_fault = may_hold_card_data and any(map(holds_taken_card, _texts_of(value)))
            return self._fault("card_data") if is_fault else None
        if depth > MAX_NESTING:
            self.fail("too_deep")
        if isinstance(value, list):
            found = {
                str(place): self._faults_in(part, may_hold_card_data, depth + 1) for place, part in enumerate(value)
            }
        else:
            found = {name: self._faults_under(name, part, may_hold_card_data, depth) for name, part in value.items()}
        return {name: faults for name, faults in found.items() if faults}

    def _faults_under(self, name: str, value: Any, may_hold_card_data: bool, depth: int) -> Any:
        if not 0 < len(name) <= MAX_NAME_LENGTH:
            return self._fault("bad_name")
        if may_hold_card_data and (holds_taken_card(name) or names_cvc(name, value)):
            return self._fault("card_data")
        return self._faults_in(value, may_hold_card_data, depth + 1)

    def _fault(self, code: str) -> list[ErrorDetail]:
        return [ErrorDetail(str(self.error_messages[code]), code=code)]


def _texts_of(value: Any) -> list[str]:
    """Return the text of a value; a number is written without exponent and decimals."""
    if isinstance(value, (float, Number)):
        return [f"{int(Decimal(str(value)))}"] if abs(Decimal(str(value))) < MAX_CARD_NUMBER else []
    return [str(value)]
