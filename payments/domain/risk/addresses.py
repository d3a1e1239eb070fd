"""The addresses of callers, as they are counted and blocked."""

from ipaddress import IPv6Address, IPv6Network, ip_address

IPV6_PREFIX_LENGTH = 64


def counted(text: str) -> str:
    """Return an address as it is counted and blocked: for IPv6 the network, as one client has all its addresses."""
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return text
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(IPv6Network((int(address), IPV6_PREFIX_LENGTH), strict=False))
