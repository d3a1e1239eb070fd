"""The base of request fields: strict types, no unknown members, null is absent, all faults reported together."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.fields import Field, SkipField, empty

from payments.api.responses.near_paths import MEMBERS

Errors = dict[str, Any]

# Comparing names takes time: only the beginning of the first unknown ones is compared.
MAX_SUGGESTIONS = 5
MAX_NAME_LENGTH = 40


class Strict(Field[Any, Any, Any, Any]):
    """A field that takes one JSON type; `null` is the same as leaving it out."""

    default_error_messages = {"missing": "This value is required."}

    def run_validation(self, data: Any = empty) -> Any:
        """Return the valid value. A field checks all in `to_internal_value`, and has none of DRF's validators."""
        is_empty, value = self.validate_empty_values(data)
        return value if is_empty else self.to_internal_value(value)

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if data is not empty and data is not None:
            return False, data
        if self.required:
            self.fail("missing")
        return True, self.get_default()


class StrictSerializer(Strict, serializers.Serializer[Any]):
    """A JSON object; a member that is neither a field nor named in `ignored` is refused.

    Rules about several members together go into `check_together`.
    """

    default_error_messages = {
        "invalid_type": "This value must be an object.",
        "unknown_parameter": "There is no such parameter.",
        "did_you_mean": "There is no such parameter. Did you mean {similar}?",
    }
    ignored: frozenset[str] = frozenset()
    # The rules between members, as JSON Schema, for the OpenAPI document.
    rules: Mapping[str, Any] = {}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, Mapping):
            self.fail("invalid_type")
        value, errors = self._members(data)
        unknown = [name for name in data if name not in self.fields.fields and name not in self.ignored]
        for number, name in enumerate(unknown):
            errors[name] = [self._unknown(name if number < MAX_SUGGESTIONS else "")]
        self.check_together(data, errors)
        if errors:
            raise ValidationError(errors)
        return value

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        """Add to `errors`, which has the faults found so far by member, those between members of `data`."""

    def require(self, name: str, errors: Errors) -> None:
        """Add to `errors` that the member `name` is missing."""
        errors.setdefault(name, [self.fault("missing")])

    def fault(self, key: str, **values: object) -> ErrorDetail:
        """Return the class's error message for `key`, with `key` as its code."""
        return ErrorDetail(str(self.error_messages[key]).format(**values), code=key)

    def _unknown(self, name: str) -> ErrorDetail:
        if name in MEMBERS:
            return ErrorDetail(f"{self.fault('unknown_parameter')} {MEMBERS[name]}", code="unknown_parameter")
        similar = get_close_matches(name[:MAX_NAME_LENGTH], self.fields, 1)
        if not similar:
            return self.fault("unknown_parameter")
        return ErrorDetail(self.fault("did_you_mean", similar=similar[0]), code="unknown_parameter")

    def _members(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], Errors]:
        """Return the valid members and the errors; DRF's own loop drops the valid ones once there is an error."""
        value: dict[str, Any] = {}
        errors: Errors = {}
        # The dictionary in DRF's own, whose every step is several calls.
        for name, field in self.fields.fields.items():
            try:
                value[name] = field.run_validation(data.get(name, empty))
            except ValidationError as error:
                errors[name] = error.detail
            except SkipField:
                continue
        return value, errors


class Nothing(StrictSerializer):
    """An empty object. The body may be left out altogether."""
