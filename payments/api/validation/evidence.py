"""The bodies of requests about evidence."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from payments.api.validation.fields import OneOf, Schema, StrictField, StrictString
from payments.api.validation.strict import Errors, StrictSerializer
from payments.models.charging.evidence import (
    NOTHING_TO_READ,
    READABLE,
    SIGNATURES,
    SIZE_MAX,
    TEXT_MAX_LENGTH,
    content_type_of,
)
from payments.providers.disputes import Evidence, EvidenceType

BASE64_MAX_LENGTH = (SIZE_MAX + 2) // 3 * 4


class File(StrictField):
    """A PDF, PNG or JPEG file in base64 (RFC 4648, section 4), by the first bytes of its content."""

    default_error_messages = {
        "invalid_type": "This value must be a string.",
        "too_long": f"This file must have at most {SIZE_MAX} bytes.",
        "pattern": "This value must be a file in base64, with padding and without line breaks.",
        "invalid_file": "This file must be a PDF, PNG or JPEG.",
    }

    def to_internal_value(self, data: Any) -> tuple[str, str]:
        """Return the type of the content, and the content in base64."""
        if not isinstance(data, str):
            self.fail("invalid_type")
        if len(data) > BASE64_MAX_LENGTH:
            self.fail("too_long")
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            self.fail("pattern")
        if len(content) > SIZE_MAX:
            self.fail("too_long")
        found = content_type_of(content)
        if found is None:
            self.fail("invalid_file")
        return found, data

    def schema(self) -> Schema:
        form = {"type": "string", "contentEncoding": "base64", "minLength": 8, "maxLength": BASE64_MAX_LENGTH}
        return form | {"pattern": f"^(?:{'|'.join(map(_in_base64, SIGNATURES))})[A-Za-z0-9+/]*={{0,2}}$"}


class EvidenceInput(StrictSerializer):
    """One piece of evidence: a text or a file."""

    default_error_messages = {"not_allowed": "A piece of evidence is a text or a file, not both."}
    rules = {
        "oneOf": [
            {
                "title": given.title(),
                "required": [given],
                "properties": {given: {"type": "string"}, other: {"type": "null"}},
            }
            for given, other in (("text", "file"), ("file", "text"))
        ]
    }

    type = OneOf([kind.value for kind in EvidenceType], help_text="What it shows.")
    text = StrictString(
        max_length=TEXT_MAX_LENGTH,
        pattern=READABLE,
        required=False,
        error_messages={"pattern": NOTHING_TO_READ},
        help_text="What you have to say.",
    )
    file = File(required=False, help_text="A PDF, PNG or JPEG file of at most 2 MiB, in base64.")

    def check_together(self, data: Mapping[str, Any], errors: Errors) -> None:
        given = [name for name in ("text", "file") if data.get(name) is not None]
        if not given:
            errors["text"] = [self.fault("missing")]
        elif len(given) > 1:
            errors["file"] = [self.fault("not_allowed")]


def _in_base64(signature: bytes) -> str:
    """Return how the base64 of a file with this signature begins: the characters that nothing after it changes."""
    return base64.b64encode(signature)[: len(signature) * 8 // 6].decode()


def evidence_of(body: Mapping[str, Any]) -> Evidence:
    """Return the piece of evidence in a validated body."""
    content_type, content = body["file"] if "file" in body else ("text/plain", body["text"])
    return Evidence(EvidenceType(body["type"]), content_type, content)
