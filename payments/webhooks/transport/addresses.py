"""The addresses that nothing is ever sent to: our own table, for Python's `is_private` lacks several of them.

It holds all of IANA's special-purpose registries (RFC 6890), reachable by the world or not, for no shop's server
lives there; multicast; what IANA has not assigned; and the metadata services of clouds. Forms of IPv6 that carry
an IPv4 address inside are refused whole, whatever they carry.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LOOPBACK = tuple(ip_network(network) for network in ("127.0.0.0/8", "::1/128"))

# The first network that holds an address gives the reason, so narrow ones stand before wide ones.
_REASONS = {
    "0.0.0.0/8": "this network, RFC 1122",
    "10.0.0.0/8": "private, RFC 1918",
    "100.100.100.200/32": "cloud metadata",
    "100.64.0.0/10": "shared between subscribers, RFC 6598",
    "127.0.0.0/8": "loopback, RFC 1122",
    "168.63.129.16/32": "cloud metadata",
    "169.254.169.254/32": "cloud metadata",
    "169.254.170.2/32": "cloud metadata",
    "169.254.170.23/32": "cloud metadata",
    "169.254.0.0/16": "link-local, RFC 3927",
    "172.16.0.0/12": "private, RFC 1918",
    "192.0.0.192/32": "cloud metadata",
    "192.0.0.0/24": "protocol assignments, RFC 6890",
    "192.0.2.0/24": "documentation, RFC 5737",
    "192.31.196.0/24": "AS112, RFC 7535",
    "192.52.193.0/24": "multicast tunnels, RFC 7450",
    "192.88.99.0/24": "6to4 relays, RFC 7526",
    "192.168.0.0/16": "private, RFC 1918",
    "192.175.48.0/24": "AS112, RFC 7534",
    "198.18.0.0/15": "benchmarks, RFC 2544",
    "198.51.100.0/24": "documentation, RFC 5737",
    "203.0.113.0/24": "documentation, RFC 5737",
    "224.0.0.0/4": "multicast, RFC 5771",
    "255.255.255.255/32": "broadcast, RFC 919",
    "240.0.0.0/4": "reserved, RFC 1112",
    "::/128": "unspecified, RFC 4291",
    "::1/128": "loopback, RFC 4291",
    "::/96": "IPv4-compatible, RFC 4291",
    "::ffff:0:0/96": "IPv4-mapped, RFC 4291",
    "::ffff:0:0:0/96": "IPv4-translated, RFC 2765",
    "64:ff9b::/96": "NAT64, RFC 6052",
    "64:ff9b:1::/48": "NAT64, RFC 8215",
    "100::/64": "discarded, RFC 6666",
    "100:0:0:1::/64": "dummy prefix, RFC 9780",
    "2001::/32": "Teredo, RFC 4380",
    "2001:2::/48": "benchmarks, RFC 5180",
    "2001:10::/28": "ORCHID, RFC 4843",
    "2001:20::/28": "ORCHIDv2, RFC 7343",
    "2001::/23": "protocol assignments, RFC 2928",
    "2001:db8::/32": "documentation, RFC 3849",
    "2002::/16": "6to4, RFC 3056",
    "2620:4f:8000::/48": "AS112, RFC 7534",
    "3ffe::/16": "6bone, RFC 3701",
    "3fff::/20": "documentation, RFC 9637",
    "5f00::/16": "segment routing, RFC 9602",
    "fd00:ec2::254/128": "cloud metadata",
    "fd00:ec2::23/128": "cloud metadata",
    "fd20:ce::254/128": "cloud metadata",
    "fc00::/7": "unique local, RFC 4193",
    "fe80::/10": "link-local, RFC 4291",
    "fec0::/10": "site-local, RFC 3879",
    "ff00::/8": "multicast, RFC 4291",
    # What is left outside of 2000::/3, the one block of global unicast.
    "::/3": "not assigned, RFC 4291",
    "4000::/2": "not assigned, RFC 4291",
    "8000::/1": "not assigned, RFC 4291",
}
DENIED: dict[Network, str] = {ip_network(network): reason for network, reason in _REASONS.items()}
_OF_VERSION = {
    version: [(network, reason) for network, reason in DENIED.items() if network.version == version]
    for version in (4, 6)
}


# Pure, and asked again for each event of a shop; a search of the whole table each time would show.
@lru_cache(maxsize=1024)
def denial_of(address: Address, loopback_allowed: bool) -> str | None:
    """Why nothing may be sent to `address`, or None where it may.

    `loopback_allowed` makes an exception for 127.0.0.0/8 and ::1, and for no other way to write them.
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return "has a zone, RFC 4007"
    if loopback_allowed and any(address in network for network in LOOPBACK):
        return None
    return next((reason for network, reason in _OF_VERSION[address.version] if address in network), None)
