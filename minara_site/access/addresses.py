"""Where a request comes from: the connection's address, or what a proxy that the operator trusts says of it."""

from ipaddress import IPv4Address, IPv6Address, ip_address

from django.conf import settings
from django.http import HttpRequest

Address = IPv4Address | IPv6Address
LONGEST_WAY = 20


def client_address(request: HttpRequest) -> str:
    """Return the nearest address that is no trusted proxy's; what stands left of it anybody could have written.

    A socket file has none. Without trusted proxies X-Forwarded-For says nothing (trust W-10).
    """
    address, proxies = read_address(request.META.get("REMOTE_ADDR", "")), settings.MINARA.minara_trusted_proxies
    if address is None:
        return ""
    forwarded_for = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")[-LONGEST_WAY:] if proxies else []
    for said in reversed(forwarded_for):  # to the left, as long as each who says so is a trusted proxy
        before = read_address(said.strip())
        if before is None or not any(address in network for network in proxies):
            break
        address = before
    return address.compressed


def read_address(text: str) -> Address | None:
    """Return the address, an IPv4 one also when it is written as IPv6; None for anything else."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
