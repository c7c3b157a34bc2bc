"""Only a trusted proxy's word changes where a request comes from (W-10)."""

from ipaddress import ip_network

import pytest
from django.test import RequestFactory
from django.utils import timezone

from minara_site.access.addresses import client_address
from minara_site.access.keys.services import create_key
from minara_site.access.policy import Scope
from tests.kit.api import Agent, assert_problem
from tests.kit.tables import table

PROXY, SECOND_PROXY, CLIENT, LIAR = "10.0.0.7", "10.0.1.9", "203.0.113.5", "198.51.100.66"


@pytest.fixture
def trust(settings):
    """Set the trusted proxies."""

    def change(*networks):
        settings.MINARA = settings.MINARA.model_copy(
            update={"minara_trusted_proxies": tuple(ip_network(network) for network in networks)}
        )

    return change


def address(connection, forwarded_for=None):
    headers = {} if forwarded_for is None else {"X-Forwarded-For": forwarded_for}
    return client_address(RequestFactory().get("/", headers=headers, REMOTE_ADDR=connection))


@table("header", [None, CLIENT, f"{LIAR}, {CLIENT}", "127.0.0.1", "nonsense"])
def test_without_trusted_proxies_the_connection_counts(header):
    assert address(PROXY, header) == PROXY


@table(
    ("connection", "header", "seen"),
    [
        (PROXY, CLIENT, CLIENT),
        (PROXY, None, PROXY),
        (PROXY, f"{LIAR}, {CLIENT}", CLIENT),
        (PROXY, f"{LIAR}, {PROXY}, {CLIENT}", CLIENT),
        (PROXY, f"{LIAR}, {CLIENT}, {SECOND_PROXY}", CLIENT),
        (PROXY, f"{CLIENT} ,{SECOND_PROXY},{PROXY}", CLIENT),
        (PROXY, f"{SECOND_PROXY}, {PROXY}", SECOND_PROXY),
        (PROXY, f"{CLIENT}, nonsense", PROXY),
        (PROXY, f"{CLIENT}, unknown, {SECOND_PROXY}", SECOND_PROXY),
        (PROXY, "," * 50_000, PROXY),
        (PROXY, f"{LIAR}, " * 50_000 + CLIENT, CLIENT),
        (PROXY, "::ffff:203.0.113.5", CLIENT),
        ("::ffff:10.0.0.7", CLIENT, CLIENT),
        (PROXY, "2001:DB8:0::1", "2001:db8::1"),
        (LIAR, CLIENT, LIAR),
        (LIAR, f"{CLIENT}, {PROXY}", LIAR),
        ("", CLIENT, ""),
    ],
)
def test_goes_back_to_the_first_address_that_is_no_trusted_proxy(trust, connection, header, seen):
    trust("10.0.0.0/16")
    assert address(connection, header) == seen


@pytest.mark.django_db
def test_the_networks_of_a_key_see_through_the_proxy_and_not_through_a_lie(trust, ana):
    key = create_key(user=ana, scopes=[Scope.MEMORY_READ], now=timezone.now(), actor="test", networks=CLIENT)
    agent = Agent(key.text)
    assert_problem(agent.get("/v1/memory", X_Forwarded_For=CLIENT, X_Real_IP=CLIENT), 403, "key_network")
    trust("127.0.0.1/32")
    assert agent.get("/v1/memory", X_Forwarded_For=f"{LIAR}, {CLIENT}").status_code == 200
    assert_problem(agent.get("/v1/memory", X_Forwarded_For=f"{CLIENT}, {LIAR}"), 403, "key_network")
