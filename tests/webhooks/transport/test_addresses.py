"""The table of addresses that nothing is sent to."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis.strategies import ip_addresses

from payments.webhooks.transport.addresses import Address, denial_of
from tests.webhooks.transport.hostile import words

DENIED = {
    "this network": ["0.0.0.0", "0.255.255.255"],
    "private": ["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
    "shared": ["100.64.0.0", "100.127.255.255"],
    "loopback": ["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"],
    "link-local": ["169.254.0.0", "169.254.255.255", "fe80::", "fe80::1", "febf:ffff::1"],
    "cloud metadata": [
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    ],
    "protocol assignments": ["192.0.0.0", "192.0.0.255", "2001:1::1", "2001:1ff:ffff::1"],
    "documentation": ["192.0.2.1", "198.51.100.255", "203.0.113.0", "2001:db8::1", "2001:db8:ffff::1", "3fff:fff::1"],
    "benchmarks": ["198.18.0.0", "198.19.255.255", "2001:2::1"],
    "AS112": ["192.31.196.1", "192.175.48.1", "2620:4f:8000::1"],
    "6to4": ["192.88.99.1", "2002::", "2002:7f00:1::", "2002:808:808::1"],
    "multicast": ["192.52.193.1", "224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ff0e::1", "ffff::1"],
    "reserved": ["240.0.0.0", "255.255.255.254"],
    "broadcast": ["255.255.255.255"],
    "unspecified": ["::"],
    "IPv4-compatible": ["::2", "::7f00:1", "::808:808", "::ffff:ffff"],
    "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8"],
    "IPv4-translated": ["::ffff:0:7f00:1", "::ffff:0:808:808"],
    "NAT64": ["64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "64:ff9b:1:ffff::1"],
    "discarded": ["100::1"],
    "dummy": ["100:0:0:1::1"],
    "Teredo": ["2001::1", "2001:0:808:808::1"],
    "ORCHID": ["2001:10::1", "2001:1f::1", "2001:20::1", "2001:2f::1"],
    "6bone": ["3ffe::1", "3ffe:ffff::1"],
    "segment routing": ["5f00::1", "5f00:ffff::1"],
    "unique local": ["fc00::", "fd00::1", "fdff:ffff::1"],
    "site-local": ["fec0::", "feff:ffff::1"],
    "not assigned": [
        "1::1",
        "200::1",
        "1fff:ffff::1",
        "4000::1",
        "5fff::1",
        "6000::1",
        "8000::1",
        "e000::1",
        "fe00::1",
    ],
}
PUBLIC = words("""
    1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
    169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255
    192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0
    223.255.255.255 2000::1 2001:200::1 2001:4860:4860::8888 2001:db7:ffff::1 2001:db9::1 2003::1 2400:cb00::1
    2606:4700:4700::1111 2a00:1450::1 3ffd:ffff::1 3fff:1000::1
""")


@pytest.mark.parametrize("reason", DENIED)
def test_a_special_address_is_denied_with_its_reason(reason: str) -> None:
    denials = {text: str(denial_of(ip_address(text), loopback_allowed=False)) for text in DENIED[reason]}
    assert {text: denial for text, denial in denials.items() if reason not in denial} == {}


def test_an_address_of_the_public_internet_is_not_denied() -> None:
    assert [text for text in PUBLIC if denial_of(ip_address(text), loopback_allowed=False)] == []


@pytest.mark.parametrize("text", ["127.0.0.1", "127.255.255.255", "::1"])
def test_loopback_may_be_allowed(text: str) -> None:
    assert denial_of(ip_address(text), loopback_allowed=True) is None


@pytest.mark.parametrize("reason", [reason for reason in DENIED if reason != "loopback"])
def test_allowing_loopback_allows_nothing_else(reason: str) -> None:
    assert [text for text in DENIED[reason] if denial_of(ip_address(text), loopback_allowed=True) is None] == []


def test_an_address_with_a_zone_is_denied() -> None:
    assert denial_of(ip_address("2606:4700::1%eth0"), loopback_allowed=True) is not None


@given(ip_addresses())
def test_whatever_python_holds_for_special_is_denied(address: Address) -> None:
    special = address.is_multicast or not address.is_global
    assert denial_of(address, loopback_allowed=False) is not None or not special


@given(ip_addresses(v=4))
def test_every_ipv6_form_of_an_ipv4_address_is_denied(inside: IPv4Address) -> None:
    number = int(inside)
    forms = [
        number,
        0xFFFF << 32 | number,
        0xFFFF << 48 | number,
        0x64FF9B << 96 | number,
        0x2002 << 112 | number << 80,
    ]
    assert all(denial_of(IPv6Address(form), loopback_allowed=True) or form == 1 for form in forms)
