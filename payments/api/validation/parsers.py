"""Parsing of JSON bodies and query strings (contract, section 1)."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from math import isinf
from typing import Any
from urllib.parse import parse_qsl

from django.http import HttpRequest, UnreadablePostError
from django.utils.http import parse_header_parameters
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser

from payments.api.responses.errors import Fault, invalid, invalid_json, refused
from payments.domain.catalogue.error_table import BAD_TYPE, TOO_LARGE
from payments.json_codecs.verbatim_json import Number, integer_of, number_of

MAX_BODY_BYTES = 64 * 1024
# A file of 2 MiB in base64, and the members beside it.
MAX_FILE_BODY_BYTES = 3 * 1024 * 1024
MAX_NESTING = 10
MAX_INTEGER_DIGITS = 30
MAX_NUMBER_LENGTH = 60
MAX_QUERY_PARAMETERS = 100
# No body is longer. Django reads a length that Python does not convert (4300 digits) as no length.
MAX_LENGTH_DIGITS = 18
COMPRESSED = "A compressed body is not accepted. Send it as it is, without Content-Encoding."
UTF_8 = ("utf-8", "utf8")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class StrictJsonParser(BaseParser):
    """A DRF parser for one JSON object of at most `max_body_bytes`, or for a list where a path `takes_lists`."""

    media_type = "application/json"
    max_body_bytes = MAX_BODY_BYTES
    takes_lists = False

    def parse(self, _stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the object in the body. Raises ApiError (400, 413) or UnsupportedMediaType."""
        request = parser_context["request"]
        if request.META.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
            raise refused(BAD_TYPE, COMPRESSED)
        if not _is_json(media_type or ""):
            raise UnsupportedMediaType("")
        return loads(_read_body(request, self.max_body_bytes), takes_lists=self.takes_lists)


class FileJsonParser(StrictJsonParser):
    """A parser of objects that hold a file in base64."""

    max_body_bytes = MAX_FILE_BODY_BYTES


def require_stated_length(request: HttpRequest) -> None:
    """Raise ApiError 400 where Django would read a body as empty because its length is missing or unreadable."""
    stated = request.META.get("CONTENT_LENGTH") or ""
    readable = stated.isascii() and stated.isdigit() and len(stated) <= MAX_LENGTH_DIGITS
    if not readable if stated else may_have_body(request.META):
        raise invalid_json("The length of the body must be stated in Content-Length, that of an empty one too.")


def may_have_body(environ: Mapping[str, Any]) -> bool:
    """Return whether a request without Content-Length can have a body: in chunks, or by HTTP/2 (RFC 9112, 6.3)."""
    return "HTTP_TRANSFER_ENCODING" in environ or not environ["SERVER_PROTOCOL"].startswith("HTTP/1")


def loads(body: bytes, *, takes_lists: bool = False) -> Any:
    """Return the one JSON object (RFC 8259) in `body`, or a list if it `takes_lists`; `[]` is `{}`, as in PHP.

    Raises ApiError 400 for anything else: other encodings, repeated names, NaN, overlong numbers, too much
    nesting, and characters that cannot be stored. No message repeats content.
    """
    if body.startswith(BYTE_ORDER_MARK):
        raise invalid_json("The body begins with a byte order mark. Send UTF-8 without one.")
    try:
        value = _DECODER.decode(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise invalid_json("The body must be UTF-8.") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise invalid_json(f"The body is not valid JSON ({where}).") from error
    except RecursionError as error:
        raise invalid_json(_TOO_DEEP) from error
    if value == []:
        return {}
    if not isinstance(value, (dict, list) if takes_lists else dict):
        raise invalid_json("The body must be one JSON object.")
    _inspect(value, 1)
    return value


def query_of(request: HttpRequest) -> dict[str, str]:
    """Return the query parameters without the ignored ones. Raises ApiError 422 for unreadable or repeated ones."""
    raw = request.META.get("QUERY_STRING", "")
    if not raw:
        return {}
    pairs = [pair for pair in _query_pairs(raw) if not is_ignored(pair[0])]
    repeated = [name for name, times in Counter(name for name, _ in pairs).items() if times > 1]
    if repeated:
        message = "This parameter may be given once."
        raise invalid(Fault(("query", name), message, "repeated_parameter") for name in repeated)
    return dict(pairs)


def is_ignored(name: str) -> bool:
    """Return whether a query parameter changes nothing: `expand` in any form, for nested objects are always whole."""
    return name.partition("[")[0] == "expand"


def _query_pairs(raw: str) -> list[tuple[str, str]]:
    try:
        text = raw.encode("latin-1").decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_PARAMETERS)
    except ValueError as error:
        raise _unreadable_query() from error
    if any("\x00" in part for pair in pairs for part in pair):
        raise _unreadable_query()
    return pairs


def _unreadable_query() -> Exception:
    message = f"The query must be percent-encoded UTF-8 without NUL, at most {MAX_QUERY_PARAMETERS} parameters."
    return invalid([Fault(("query",), message, "invalid_query")])


def _is_json(content_type: str) -> bool:
    essence, parameters = parse_header_parameters(content_type)
    return essence == "application/json" and parameters.get("charset", "utf-8").lower() in UTF_8


def _read_body(request: HttpRequest, max_bytes: int) -> bytes:
    stated = int(request.META["CONTENT_LENGTH"])
    if stated > max_bytes:
        raise refused(TOO_LARGE, limit=max_bytes)
    try:
        # Not `body`, for which Django has one limit on all paths.
        body = request.read()
    except UnreadablePostError as error:
        raise invalid_json("The body broke off.") from error
    if len(body) < stated:
        raise invalid_json("The body broke off.")
    return body


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise invalid_json("An object in the body repeats a member name.")
    return value


def _integer(text: str) -> int | Number:
    if len(text) > MAX_INTEGER_DIGITS:
        raise invalid_json("A number in the body is too long.")
    return integer_of(text)


def _number(text: str) -> float | Number:
    if len(text) > MAX_NUMBER_LENGTH or isinf(float(text)):
        raise invalid_json("A number in the body is too long.")
    return number_of(text)


def _constant(_: str) -> float:
    raise invalid_json("NaN and Infinity are not JSON.")


_TOO_DEEP = f"The body must not nest deeper than {MAX_NESTING}."
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_constant
)


def _inspect(value: Any, depth: int) -> None:
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise invalid_json("A text in the body holds a NUL or half of a surrogate pair.")
    elif isinstance(value, (dict, list)):
        if depth > MAX_NESTING:
            raise invalid_json(_TOO_DEEP)
        for inner in [*value, *value.values()] if isinstance(value, dict) else value:
            _inspect(inner, depth + 1)
