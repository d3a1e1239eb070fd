"""The ground rules of request fields: strict types, no unknown members, null is absent, all faults at once."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.fields import Field, SkipField, empty

Errors = dict[str, Any]


class Strict(Field[Any, Any, Any, Any]):
    """A field that takes one JSON type; `null` is the same as leaving it out."""

    default_error_messages = {"missing": "This value is required."}

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
    }
    ignored: frozenset[str] = frozenset()

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, Mapping):
            self.fail("invalid_type")
        value, errors = self._members(data)
        for name in data:
            if name not in self.fields and name not in self.ignored:
                errors[name] = [self.fault("unknown_parameter")]
        self.check_together(data, errors)
        if errors:
            raise ValidationError(errors)
        return value

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        """Adds to `errors` (by member name, the bad ones so far) what is wrong between members of `data`."""

    def fault(self, key: str, **values: object) -> ErrorDetail:
        """One of the class's error messages, with its code."""
        return ErrorDetail(str(self.error_messages[key]).format(**values), code=key)

    def _members(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], Errors]:
        """Every member's value or errors; DRF's own loop tells nothing of the good ones when there is a bad one."""
        value: dict[str, Any] = {}
        errors: Errors = {}
        for name, field in self.fields.items():
            try:
                value[name] = field.run_validation(data.get(name, empty))
            except ValidationError as error:
                errors[name] = error.detail
            except SkipField:
                continue
        return value, errors


class Nothing(StrictSerializer):
    """An object without members: for requests that take none."""
