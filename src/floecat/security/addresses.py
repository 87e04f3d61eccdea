"""Which network addresses may be talked to."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_METADATA: Final = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",  # AWS, Azure, Google, Oracle, DigitalOcean
        "169.254.170.2",  # AWS tasks
        "169.254.170.23",  # AWS pods
        "fd00:ec2::254",  # AWS, version 6
        "fd00:ec2::23",
        "fd20:ce::254",  # Google, version 6
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure's wire server
        "192.0.0.192",  # Oracle
    )
)
"""Where clouds hand credentials to whoever asks from inside. Some lie in private networks."""

_NAT64: Final = (
    ip_network("64:ff9b::/96"),
    ip_network("64:ff9b:1::/48"),
    ip_network("::ffff:0:0:0/96"),
)
"""Ways to write an address of version 4 that some gateway translates."""
_SITE_LOCAL: Final = IPv6Network("fec0::/10")
_COMPATIBLE: Final = IPv6Network("::/96")


def refusal(address: Address, *, allow_private: bool) -> str | None:
    """Why an address may not be talked to, or None when it may."""
    inner = _carried(address)
    if inner is not None:
        return refusal(inner, allow_private=allow_private)
    if address in _METADATA:
        return "it is a cloud's metadata service"
    if address.is_link_local:
        return "it is link-local, where clouds keep their metadata services"
    if address.is_multicast or address.is_unspecified or _is_this_network(address):
        return "it isn't the address of one host"
    inside = address.is_loopback or address.is_private or address in _SITE_LOCAL
    if inside or not address.is_global:
        return None if allow_private else "it is private (setting outbound.private-addresses)"
    return None


def _is_this_network(address: Address) -> bool:
    if isinstance(address, IPv6Address):
        return False
    return address.packed[0] == 0 or address == IPv4Address("255.255.255.255")


def _carried(address: Address) -> IPv4Address | None:
    """The version 4 address inside one of version 6, however it is wrapped."""
    if not isinstance(address, IPv6Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in _NAT64):
        return IPv4Address(address.packed[-4:])
    if address in _COMPATIBLE and int(address) > 1:
        return IPv4Address(address.packed[-4:])
    return None
