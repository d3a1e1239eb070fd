"""How notify URLs are read."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis.strategies import text

from payments.webhooks.transport.urls import ForbiddenUrl, check_url
from tests.webhooks.transport.hostile import ASTRAY, FORBIDDEN

HOST = re.compile(r"[0-9a-z._:-]+")
TARGET = re.compile(r"/[!-~]*")


def is_allowed(url: str, livemode: bool) -> bool:
    try:
        check_url(url, livemode)
    except ForbiddenUrl:
        return False
    return True


def test_the_hostile_urls_are_many_and_all_different() -> None:
    assert [url for url, count in Counter([*FORBIDDEN, *ASTRAY]).items() if count > 1] == []
    assert len(FORBIDDEN) > 200


@pytest.mark.parametrize(("scheme", "livemode"), [("http", False), ("https", False), ("https", True)])
def test_a_url_that_could_be_misread_is_forbidden(settings, scheme: str, livemode: bool) -> None:
    settings.NOTIFY_PORTS = ["443", "80", "8443"]
    urls = [url.replace("{port}", "8443").replace("http://", f"{scheme}://") for url in FORBIDDEN]
    assert [url for url in urls if is_allowed(url, livemode)] == []


@pytest.mark.parametrize(
    ("url", "host", "port", "target", "authority"),
    [
        ("https://shop.example", "shop.example", 443, "/", "shop.example"),
        ("HTTPS://Shop.Example/Hook", "shop.example", 443, "/Hook", "shop.example"),
        ("https://shop.example:443/", "shop.example", 443, "/", "shop.example"),
        ("https://shop.example:8443/", "shop.example", 8443, "/", "shop.example:8443"),
        ("http://shop.example:80/", "shop.example", 80, "/", "shop.example"),
        ("http://shop.example:3000/", "shop.example", 3000, "/", "shop.example:3000"),
        ("https://shop.example?a=1&b=%20", "shop.example", 443, "/?a=1&b=%20", "shop.example"),
        ("https://shop.example/a//b/../c;d?e#f", "shop.example", 443, "/a//b/../c;d?e", "shop.example"),
        ("https://shop.example#f", "shop.example", 443, "/", "shop.example"),
        ("https://shop.example/ñ?q=|", "shop.example", 443, "/%C3%B1?q=%7C", "shop.example"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443, "/", "xn--bcher-kva.example"),
        ("https://my_shop.example/", "my_shop.example", 443, "/", "my_shop.example"),
        ("https://8.8.8.8/", "8.8.8.8", 443, "/", "8.8.8.8"),
        ("https://[2606:4700:0:0::1111]:8443/", "2606:4700::1111", 8443, "/", "[2606:4700::1111]:8443"),
        ("https://localhost/", "localhost", 443, "/", "localhost"),
    ],
)
def test_a_plain_url_is_read_as_it_stands(url: str, host: str, port: int, target: str, authority: str) -> None:
    read = check_url(url, livemode=False)
    assert (read.host, read.port, read.target, read.authority) == (host, port, target, authority)


@pytest.mark.parametrize(
    ("url", "receiver"),
    [
        ("https://Shop.example/a?b", "https://shop.example:443"),
        ("http://shop.example", "http://shop.example:80"),
        ("https://[2606:4700:0::1]/", "https://[2606:4700::1]:443"),
    ],
)
def test_all_urls_of_a_server_name_one_receiver(url: str, receiver: str) -> None:
    assert check_url(url, livemode=False).receiver == receiver


@pytest.mark.parametrize("url", ["http://shop.example/", "http://shop.example:443/"])
def test_live_mode_wants_https(url: str) -> None:
    assert not is_allowed(url, livemode=True)
    assert is_allowed(url, livemode=False)


@pytest.mark.parametrize("port", [80, 8443, 444, 3000])
def test_live_mode_wants_port_443(port: int) -> None:
    assert not is_allowed(f"https://shop.example:{port}/", livemode=True)


@pytest.mark.parametrize("port", [443, 8443])
def test_a_setting_opens_further_ports_to_live_mode(settings, port: int) -> None:
    settings.NOTIFY_PORTS = ["443", "8443"]
    assert is_allowed(f"https://shop.example:{port}/", livemode=True)


def test_a_setting_closes_port_443_again(settings) -> None:
    settings.NOTIFY_PORTS = ["8443"]
    assert not is_allowed("https://shop.example/", livemode=True)


@pytest.mark.parametrize("port", [80, 443, 1024, 3000, 65535])
def test_test_mode_calls_every_port_of_the_web_and_of_developers(port: int) -> None:
    assert is_allowed(f"http://shop.example:{port}/", livemode=False)


@given(text(), text())
def test_whatever_is_let_through_is_plain_ascii(host: str, target: str) -> None:
    try:
        read = check_url(f"http://{host}/{target}", livemode=False)
    except ForbiddenUrl:
        return
    assert HOST.fullmatch(read.host)
    assert TARGET.fullmatch(read.target)
