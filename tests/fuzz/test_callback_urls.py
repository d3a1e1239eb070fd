"""The URL of a callback is read as other programs read it, or refused."""

from contextlib import suppress
from urllib.parse import urlsplit

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rest_framework.exceptions import ValidationError
from yarl import URL

from payments.api.validation.fields import Url
from payments.webhooks.transport.urls import ForbiddenUrl, check_url
from tests.fuzz.inputs.values import texts

PARTS = st.sampled_from(
    [
        *("http", "https", "HTTP", "ftp", "javascript", ":", "://"),
        *("//", "/", "\\", "@", "?", "#", ".", "..", "-", "_", "%"),
        *("a", "shop.example", "localhost", "user:pass@", "xn--a"),
        *("127.0.0.1", "2130706433", "0x7f.1", "0177.1", "[::1]"),
        *("[::ffff:127.0.0.1]", "[fe80::1%25eth0]", "[", "]", ":80"),
        *(":443", ":0", ":65536", ":8443", ":٣", "%2e", "%00"),
        *("。", "１", "ſ", "K", "ß", "İ", "\u200b", "\u00ad"),
        *("\ufeff", "\t", "\n", " ", "\x00", "\ud800", "é", "a" * 64),
    ]
)
urls = st.lists(PARTS, max_size=12).map("".join) | st.builds(
    "https://{}{}".format, st.lists(PARTS, max_size=4).map("".join), texts
)


@settings(deadline=None)
@given(url=urls, livemode=st.booleans())
@example("https://shop.example:8443/a?b#c", False)
@example("https://xn--bcher-kva.example/", True)
@example("https://xn--a/", True)
def test_what_is_let_through_names_the_same_server_to_everybody(url: str, livemode: bool) -> None:
    try:
        checked = check_url(url, livemode)
    except ForbiddenUrl:
        return
    plain, library = urlsplit(url), URL(checked.receiver)
    default = 443 if checked.scheme == "https" else 80
    assert (plain.scheme, plain.port or default, plain.username) == (checked.scheme, checked.port, None)
    # As it goes over the wire: `host` would be the name decoded, which not every name in ASCII can be.
    assert (library.scheme, library.raw_host, library.port) == (checked.scheme, checked.host, checked.port)
    assert checked.address or plain.hostname == checked.host


@settings(deadline=None)
@given(url=urls)
def test_a_url_that_a_source_may_have_is_read_without_an_error(url: str) -> None:
    with suppress(ForbiddenUrl, ValidationError):
        check_url(Url().run_validation(url), livemode=False)
