"""Headers and methods that a server lets through to the application."""

import base64
from collections.abc import Mapping

from hypothesis import strategies as st

MEDIA_TYPES = [
    *("", " ", ";", "application/json;", "application/json; charset=utf-8"),
    *("application/json; charset=UTF8", "text/json"),
    *("application/json, text/plain", "APPLICATION/JSON"),
    *("application/json; charset=\xe9", "\xff/\xff", "*/*", "a" * 9000),
    *(
        f"application/json; charset={name}"
        for name in ("utf-16", "hex", "undefined", "idna", "rot13", "x" * 300, '"', "'")
    ),
    *(
        f"text/plain; charset={name}"
        for name in ("utf-16", "hex", "undefined", "idna", "base64", "unicode_escape", "zip")
    ),
    *("multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\xff" + "x" * 300),
    *("multipart/form-data; boundary=x", "application/x-www-form-urlencoded"),
    *("application/x-www-form-urlencoded; charset=hex",),
    *("application/x-www-form-urlencoded; charset=utf-7",),
    *("application/json; charset*=utf-8''utf-16", "application/json; q='"),
    *("application/json; charset*=hex'en'%FF",),
    *("application/json; charset*0*=a''%ff", "application/json" + "; a=b" * 900),
]
IDEMPOTENCY_KEYS = [
    "",
    " ",
    "\t",
    "a",
    "b",
    "a b",
    "a" * 255,
    "a" * 256,
    "a" * 9000,
    "\xe9",
    "\x7f",
    "\x80",
    "\xa0",
    "\xad",
    "\xff",
    "1,2",
]
# A server refuses what is no number (RFC 9112, 6.3), and so does ours: see `test_server.py`.
LENGTHS = ["0", "1", "00002", "65536", "65537", "9" * 18]
ADDRESSES = [
    "",
    ",",
    "unknown",
    "1.2.3.4",
    "::1",
    "a" * 9000,
    "\xff",
    "1.2.3.4, 5.6.7.8",
    "[::1]:80",
    "1.2.3.4:80",
    "' OR 1=1",
]
HOSTS = [
    "",
    "a b",
    "localhost",
    "[::1",
    "evil.example",
    "localhost:99999",
    "localhost:\xb2",
    "a" * 300,
    "\xff",
    "127.0.0.1:x",
    "@",
]
SITES = [
    "null",
    "",
    "http://[",
    "https://evil.example",
    "http://a:99999",
    "\xff",
    "https://[::1%25a]",
    "http://a\\b",
    "a" * 9000,
    "//",
]
MOMENTS = [
    "",
    "x",
    "Sat, 31 Feb 2026 00:00:00 GMT",
    "Thu, 01 Jan 0000 00:00:00 GMT",
    "Sun, 06-Nov-94 08:49:37 GMT",
    "9" * 5000,
]
latin = st.text(st.characters(max_codepoint=255, exclude_categories=["Cc"]), max_size=30)

tokens = st.one_of(
    st.sampled_from(
        ["", "\xe9", "====", "a", "Og==", "/" * 9000, "a:b", "sk_test_" + "a" * 48, "pk_live_", "sk_test_\xff"]
    ),
    latin.map(lambda text: base64.b64encode(text.encode("latin-1")).decode()),
    latin.map(lambda text: base64.b64encode(f"{text}:".encode()).decode()),
    latin,
)
schemes = st.sampled_from(["Basic", "basic", "Bearer", "BEARER", "Digest", "Negotiate", "", "Basic Basic", "\xff"])
authorizations = st.builds(
    lambda scheme, space, token: f"{scheme}{space}{token}", schemes, st.sampled_from([" ", "  ", "\t", ""]), tokens
)

OTHERS: Mapping[str, list[str]] = {
    "Accept": [
        "",
        "text/html",
        "*/*;q=x",
        "application/xml",
        "application/json; version=\xff",
        ",",
        "a" * 9000,
        "; q=0",
    ],
    "Accept-Language": ["", "tlh", "en;q=x", "*" * 9000, "\xff", "../../x", "en-" + "a" * 5000],
    "Accept-Encoding": ["", "gzip;q=0", "*", "identity;q=0, *;q=0", "br\xff"],
    "Access-Control-Request-Method": ["GET", "", "\xff", "FOO"],
    "Access-Control-Request-Headers": ["authorization", "\xff", "," * 5000],
    "Access-Control-Request-Private-Network": ["true"],
    "Cookie": [
        "sessionid=a",
        "sessionid=\xff",
        "csrftoken=" + "a" * 5000,
        "=",
        ";;;",
        'a="\\400"',
        "sessionid=" + "\xe9" * 32,
    ],
    "Expect": ["100-continue", "x"],
    "Forwarded": ["for=1.2.3.4;host=evil.example", "\xff"],
    "Host": HOSTS,
    "If-Modified-Since": MOMENTS,
    "If-None-Match": ["*", '"', 'W/"a"', "\xff", "," * 5000],
    "Origin": SITES,
    "Range": ["bytes=0-", "bytes=-1", "bytes=9-1", "x", "bytes=" + "0-1," * 2000],
    "Referer": SITES,
    "Transfer-Encoding": ["chunked", "gzip, chunked", "identity", "\xff"],
    "X-CSRFToken": ["", "\xff", "a" * 5000],
    "X-Forwarded-For": ADDRESSES,
    "X-Forwarded-Host": HOSTS,
    "X-Forwarded-Proto": ["https", "http", "\xff", ""],
    "X-HTTP-Method-Override": ["DELETE", "PUT", "\xff"],
    "X-Idempotency-Key": IDEMPOTENCY_KEYS,
    "X-Requested-With": ["XMLHttpRequest"],
}


def _one(name: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, str]]:
    return values.map(lambda value: {name: value})


headers = st.one_of(
    _one("Content-Type", st.sampled_from(MEDIA_TYPES) | latin),
    _one("Idempotency-Key", st.sampled_from(IDEMPOTENCY_KEYS) | latin),
    _one("Authorization", authorizations),
    _one("Content-Length", st.sampled_from(LENGTHS)),
    st.sampled_from(sorted(OTHERS)).flatmap(lambda name: _one(name, st.sampled_from(OTHERS[name]) | latin)),
)
methods = st.sampled_from(
    [
        "GET",
        "HEAD",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
        "OPTIONS",
        "TRACE",
        "CONNECT",
        "PROPFIND",
        "FOO",
        "get",
        "A" * 9000,
    ]
)
