"""What may stand where a value is due: of the wrong type, just beyond a bound, endless, unstorable, or in disguise.

And JSON that no JSON library would write.
"""

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.client import APPROVED
from tests.webhooks.transport.hostile import FORBIDDEN, words


@dataclass(frozen=True)
class Raw:
    """Bytes that go into a body as they are, where a value is due."""

    content: bytes


@dataclass(frozen=True)
class Pairs:
    """An object whose names may come more than once, each a text or bytes as they are."""

    members: tuple[tuple[Any, Any], ...]


def written(value: Any) -> bytes:
    """`value` as compact JSON, in which `Raw` and `Pairs` may stand anywhere."""
    if isinstance(value, Raw):
        return value.content
    if isinstance(value, dict):
        value = Pairs(tuple(value.items()))
    if isinstance(value, Pairs):
        return b"{" + b",".join(written(name) + b":" + written(inner) for name, inner in value.members) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(written, value)) + b"]"
    return json.dumps(value).encode()


LENGTHS = [2, 3, 5, 10, 16, 25, 40, 41, 50, 51, 100, 101, 254, 255, 256, 2083, 2084, 5000, 60_000]
DEPTHS = [2, 4, 5, 6, 9, 10, 11, 40, 900, 1100, 12_000]

NUMBERS = words("""
    0 -0 -1 1 2 99999999999 100000000000 2147483648 9007199254740993 9223372036854775808 18446744073709551616
    100.0 1.5 0.1 -0.0 1e2 1E+2 1e-2 1e-400 1e308 1e309 -1e999 1e99999999999 5e-324
    01 +1 .5 1. 0x10 1_000 1e 1e+ -- - ١٠٠ １００ 100n 1,000 NaN Infinity -Infinity nan inf None True undefined
""")
NUMBERS += ["9" * length for length in (18, 19, 29, 30, 31, 60, 61, 4300, 4301, 60_000)]
NUMBERS += ["0." + "1" * length for length in (57, 58, 60_000)]

TEXTS = [
    *("", " ", "\t", "\n", "\r\n", "a\n", "\na", "a\x0bb", "\x7f"),
    *("\x85", "\xa0", "\u2028", "\u200b", "\ufeff", "\ufffe"),
    *("é", "e\u0301", "ß", "İ", "ı", "ﬁ", "ſ", "K", "日本"),
    *("\U0001f600", "\U0010ffff", "\u202e123", "１００", "١٠٠", "²"),
    *("100", "100.0", "1e2", " 100", "100 ", "+100", "true", "false", "null", "NaN", "{}", "[]", "0", "-1"),
    *("' OR 1=1 --", '"; DROP TABLE charge; --', "%s %(a)s %"),
    *("{0} {a.__class__}", "${jndi:ldap://a}", "<script>", "\\"),
    *("../../etc/passwd", "%00", "%FF", "%", "__proto__", "constructor", "a.b", "a[0]", "$ne", "*", "?", "#", "&", "="),
    *("1" * 13, APPROVED, "4242 4242 4242 4242", "4" * 19, "sk_test_" + "a" * 48, "cvc=123", "whsec_c2VjcmV0c2VjcmV0"),
    *("PHP", "php", "pHp", "XXX", "ZZZ", "EURO", "ＰＨＰ", "card", "gcash", "Card", "card ", "succeeded"),
    *("src_", "ch_", "ch_0", "ch_" + "0" * 32, "CH_" + "0" * 32, "ch_" + "F" * 32, "ch_" + "٣" * 32, "_" * 40),
    *("a@b", "a@b.example", '"a b"@b.example', "a@[127.0.0.1]"),
    *("a@[::1]", "a@b.example\n", "é@b.example", "a@é.example"),
    *("@", "a" * 65 + "@b.example", "a@" + "b." * 120 + "example"),
    *("a@xn--a.example", "a@-b.example", "a\u2028@b.example"),
    *("http://", "https://a", "HTTPS://A", "http://["),
    *("http://[::1%25a]/", "http://a:99999/", "http://a:0/", "http://a:/"),
    *("http://a:٣/", "http://a\\@b/", "javascript:alert(1)"),
    *("data:,", "//a.example/", "http:a", "http:///a", "ftp://a/"),
    *("http://" + "a." * 127 + "b/", "http://" + "a" * 64 + "/", "http://a/\n", "http://ａ.example/", "http://a@b@c/"),
    *("2026-11-21", "2026-02-30", "0000-01-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-W01-1"),
    *("2026-11-21T24:00:00Z", "2026-11-21T00:00:60Z", "2026-11-21T00:00:00+99:99", "2026-11-21T00:00:00.1234567890Z"),
    *("12", "13", "00", "012", "1 ", "١٢", "2039", "0000", "9999", "２０３９", "123", "１２３", "12345", "123456"),
    *(url.replace("{port}", "8443") for url in FORBIDDEN[::7]),
]
# As they are sent: a NUL, halves of a surrogate pair, bytes that are not UTF-8, line ends, a string without an end.
BAD_STRINGS = [
    *(rb'"\u0000"', rb'"a\u0000b"', rb'"\ud800"', rb'"\udc00"'),
    *(rb'"\udc00\ud800"', rb'"\ud83dx\ude00"', rb'"\ud800\u0000"'),
    *(b'"\x00"', b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"'),
    *(b'"\xf4\x90\x80\x80"', b'"\xe2\x82"', b'"\x80"', b'"\xfe\xff"'),
    *(b'"\n"', b'"\t"', b'"\x1f"', rb'"\x41"', rb'"\u12"'),
    *(rb'"\uD83D\uDE00"', rb'"\/"', b'"', b"'a'", rb'"\"', b"a", b""),
]


def _nested(depth: int, opening: bytes, closing: bytes) -> Raw:
    return Raw(opening * depth + b"1" + closing * depth)


numbers = st.sampled_from(NUMBERS).map(lambda text: Raw(text.encode()))
long_texts = st.builds(
    lambda unit, length: unit * length, st.sampled_from(["a", "1", " ", "é", "\\", '"']), st.sampled_from(LENGTHS)
)
texts = st.one_of(st.sampled_from(TEXTS), long_texts, st.text(max_size=30), st.text("0123456789 -.eE+", max_size=20))
bad_strings = st.sampled_from(BAD_STRINGS).map(Raw)
constants: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, [], {}, [None], {"": ""}, [[]], {"a": {}}, ["a"] * 30_000]
)
deep = st.builds(_nested, st.sampled_from(DEPTHS), *(st.just(b"["), st.just(b"]"))) | st.builds(
    _nested, st.sampled_from(DEPTHS), *(st.just(b'{"a":'), st.just(b"}"))
)
wide = st.builds(
    lambda count, length: {f"{number}".ljust(length, "x"): number for number in range(count)},
    st.sampled_from([1, 49, 50, 51, 99, 101, 2000]),
    st.sampled_from([1, 39, 40, 41, 101]),
)
small = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)

# Whatever may be sent in place of a value.
anything: st.SearchStrategy[Any] = st.one_of(numbers, texts, bad_strings, constants, deep, wide, small)
names = st.sampled_from(["amount", "livemode", "id", "object", "metadata", "captur", "", "a" * 500, APPROVED]) | texts
