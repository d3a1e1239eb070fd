"""The fields of requests.

No message repeats a value, and every check takes time linear in the length of the value.
"""

import re
from collections.abc import Collection
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote_plus, urlsplit

from django.core.exceptions import ValidationError as DjangoValidationError
from django.core.validators import validate_email
from rest_framework.exceptions import ErrorDetail, ValidationError

from payments import names
from payments.api.validation.strict import Strict
from payments.models import AMOUNT_MAX
from payments.money import CURRENCIES
from payments.sensitive_data.card_numbers import holds_taken_card
from payments.sensitive_data.card_ranges import CARD_NUMBER_DIGITS
from payments.sensitive_data.luhn import luhn_valid
from payments.webhooks.transport.urls import ForbiddenUrl, check_notify_url

Schema = dict[str, Any]

DIGITS = "[0-9]+"
MONTH = "0?[1-9]|1[0-2]"
URL_MAX_LENGTH = 2083
EMAIL_MAX_LENGTH = 254
CARD_DATA = "This value holds a card number or a security code, which may stand in a card only."

_URL_CHARACTERS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_HOST = re.compile(r"(?!-)[A-Za-z0-9_\-]{1,63}(?<!-)(?:\.(?!-)[A-Za-z0-9_\-]{1,63}(?<!-))*\.?")
_HOST_MAX_LENGTH = 254


class StrictField(Strict):
    """A field that is not a nested object."""

    def schema(self) -> Schema:
        """Return the JSON Schema (OpenAPI 3.1) of this field."""
        raise NotImplementedError


class StrictString(StrictField):
    """A string of `min_length` to `max_length` characters that matches `pattern` as a whole.

    A card number is refused, because the string is stored and shown as it is. With `blank_is_absent` an empty string is
    the same as leaving it out, for generated clients send their defaults.
    """

    default_error_messages = {
        "invalid_type": "This value must be a string.",
        "too_short": "This value must have at least {min_length} characters.",
        "too_long": "This value must have at most {max_length} characters.",
        "pattern": "This value has characters or a form that are not allowed here.",
        "card_data": CARD_DATA,
    }
    is_card_number = False

    def __init__(
        self, *, min_length: int = 1, max_length: int, pattern: str = "", blank_is_absent: bool = False, **options: Any
    ) -> None:
        super().__init__(**options)
        self.blank_is_absent = blank_is_absent
        self.min_length = min_length
        self.max_length = max_length
        self.pattern = re.compile(pattern) if pattern else None

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return super().validate_empty_values(None if self.blank_is_absent and data == "" else data)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid_type")
        if len(data) < self.min_length:
            self.fail("too_short", min_length=self.min_length)
        if len(data) > self.max_length:
            self.fail("too_long", max_length=self.max_length)
        self.check_pattern(data)
        if not self.is_card_number and holds_taken_card(data):
            self.fail("card_data")
        return data

    def check_pattern(self, text: str) -> None:
        """Fail where a text does not have the form of this field."""
        if self.pattern and not self.pattern.fullmatch(text):
            self.fail("pattern")

    def schema(self) -> Schema:
        min_length, pattern = self.min_length, self.pattern.pattern if self.pattern else ""
        if self.blank_is_absent:
            # Of the lengths below the least only none is allowed.
            pattern = f"|{pattern}" if pattern else f"|[\\s\\S]{{{min_length},}}" if min_length > 1 else ""
            min_length = 0
        form: Schema = {"type": "string", "minLength": min_length, "maxLength": self.max_length}
        return form | ({"pattern": f"^(?:{pattern})$"} if pattern else {})


class NameSafe(StrictString):
    """A string of pattern P (`payments.names`), in NFC: letters, digits and whitespace of ASCII, and `'#_.-,`."""

    default_error_messages = {
        "pattern": "This value may hold letters, the digits 0 to 9, whitespace and ' # _ . - , but not {character}.",
    }

    def schema(self) -> Schema:
        return super().schema() | {"pattern": f"^(?:{names.DOCUMENTED})$"}

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(names.composed(data) if isinstance(data, str) else data)

    def check_pattern(self, text: str) -> None:
        if character := names.first_not_allowed(text):
            self.fail("pattern", character=names.shown(character))


class PlainText(StrictString):
    """A string of the ASCII part of pattern P, for what goes to schemes."""

    default_error_messages = {
        "pattern": "This value may hold only the letters A to Z, digits, whitespace and ' # _ . - ,",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(pattern=names.PLAIN_TEXT, **options)


class Digits(StrictString):
    """A string of ASCII digits."""

    default_error_messages = {"pattern": "This value must be digits only."}

    def __init__(self, **options: Any) -> None:
        super().__init__(pattern=DIGITS, **options)


class CardNumber(StrictString):
    """A card number: 16 digits with a right check digit (ISO/IEC 7812-1)."""

    default_error_messages = {
        "pattern": "This value must be the digits alone, without blanks and hyphens.",
        "too_short": f"This value must have {CARD_NUMBER_DIGITS} digits: cards with fewer, such as those of American "
        "Express with 15, are not taken.",
        "too_long": f"This value must have {CARD_NUMBER_DIGITS} digits.",
        "luhn": "This is not a card number.",
    }
    is_card_number = True

    def __init__(self, **options: Any) -> None:
        super().__init__(min_length=CARD_NUMBER_DIGITS, max_length=CARD_NUMBER_DIGITS, pattern=DIGITS, **options)

    def to_internal_value(self, data: Any) -> str:
        # Before its length, which blanks change.
        if isinstance(data, str) and data and not (data.isascii() and data.isdigit()):
            self.fail("pattern")
        number: str = super().to_internal_value(data)
        if not luhn_valid(number):
            self.fail("luhn")
        return number

    def schema(self) -> Schema:
        return super().schema() | {"format": "card-number"}


class Url(StrictString):
    """An absolute http(s) URL (RFC 3986, percent-encoded), returned as it was sent."""

    default_error_messages = {"invalid_url": "This value must be an absolute http or https URL, percent-encoded."}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=URL_MAX_LENGTH, **options)

    def to_internal_value(self, data: Any) -> str:
        url: str = super().to_internal_value(data)
        if not _URL_CHARACTERS.fullmatch(url) or not _has_web_address(url):
            self.fail("invalid_url")
        if holds_taken_card(unquote_plus(url)):
            self.fail("card_data")
        return url

    def schema(self) -> Schema:
        return super().schema() | {"format": "uri"}


class NotifyUrl(Url):
    """A URL that is called; https in live mode. One to which nothing would ever be sent is refused."""

    def to_internal_value(self, data: Any) -> str:
        url: str = super().to_internal_value(data)
        try:
            check_notify_url(url, self.context["livemode"])
        except ForbiddenUrl as error:
            reason = f"Nothing would ever be sent to this URL. {error}"
            raise ValidationError([ErrorDetail(reason, code="invalid_url")]) from None
        return url


class Email(StrictString):
    """An e-mail address."""

    default_error_messages = {"invalid_email": "This value must be an e-mail address."}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=EMAIL_MAX_LENGTH, **options)

    def to_internal_value(self, data: Any) -> str:
        address: str = super().to_internal_value(data)
        try:
            validate_email(address)
        except DjangoValidationError:
            self.fail("invalid_email")
        if not address.isprintable():
            self.fail("invalid_email")
        return address

    def schema(self) -> Schema:
        return super().schema() | {"format": "email"}


class Currency(PlainText):
    """An ISO 4217 code in any case, returned in upper case; one in use today, unless other `codes` are given."""

    default_error_messages = {"invalid_choice": "This value must be an ISO 4217 currency code."}

    def __init__(self, codes: Collection[str] = CURRENCIES, **options: Any) -> None:
        super().__init__(min_length=2, max_length=4, **options)
        self.codes = codes

    def to_internal_value(self, data: Any) -> str:
        code: str = super().to_internal_value(data).upper()
        if code not in self.codes:
            self.fail("invalid_choice")
        return code

    def schema(self) -> Schema:
        return {"type": "string", "pattern": "^[A-Za-z]{3}$"}


class OneOf(StrictField):
    """One of some strings."""

    default_error_messages = {
        "invalid_type": "This value must be a string.",
        "invalid_choice": "This value must be one of: {choices}.",
    }

    def __init__(self, choices: Collection[str], **options: Any) -> None:
        super().__init__(**options)
        self.choices = choices

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid_type")
        if data not in self.choices:
            self.fail("invalid_choice", choices=", ".join(self.choices))
        return data

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.choices)}


class StrictInteger(StrictField):
    """An integer within `min_value`..`max_value`: no boolean, no float, no string."""

    default_error_messages = {
        "invalid_type": "This value must be an integer.",
        "too_small": "This value must be at least {min_value}.",
        "too_big": "This value must be at most {max_value}.",
    }

    def __init__(self, *, min_value: int, max_value: int, **options: Any) -> None:
        super().__init__(**options)
        self.min_value = min_value
        self.max_value = max_value

    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int:
            self.fail("invalid_type")
        if data < self.min_value:
            self.fail("too_small", min_value=self.min_value)
        if data > self.max_value:
            self.fail("too_big", max_value=self.max_value)
        return data

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.min_value, "maximum": self.max_value}


class Amount(StrictInteger):
    """An amount of money that is not nothing, unless `min_value` is 0."""

    default_error_messages = {
        "invalid_type": "This value must be a whole number of the currency's smallest unit: 10.50 pesos are 1050 "
        "centavos, sent as 1050.",
    }

    def __init__(self, *, min_value: int = 1, **options: Any) -> None:
        super().__init__(min_value=min_value, max_value=AMOUNT_MAX, **options)


class StrictBoolean(StrictField):
    """true or false, and no number or string for either."""

    default_error_messages = {"invalid_type": "This value must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid_type")
        return data

    def schema(self) -> Schema:
        return {"type": "boolean"}


def _has_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and port != 0 and _is_host(parts.hostname or "", parts.netloc)


def _is_host(host: str, netloc: str) -> bool:
    if "[" in netloc:
        try:
            return ip_address(host).version == 6
        except ValueError:
            return False
    return len(host) <= _HOST_MAX_LENGTH and _HOST.fullmatch(host) is not None
