"""The text of a key, and what it lets a stranger check."""

import ipaddress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from minara_site.access.keys.core import (
    BASE62,
    KeyState,
    checksum,
    decide_state,
    generate_key,
    hash_key,
    is_inside,
    is_same_key,
    parse_key,
    parse_networks,
)
from tests.kit.tables import table

NOW = datetime(2026, 6, 12, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_has_the_form_that_scanners_look_for():
    key = generate_key("live")
    mnr, environment, prefix, rest = key.text.split("_")
    assert (mnr, environment, prefix) == ("mnr", "live", key.prefix)
    assert len(prefix) == 8
    assert len(rest) == 43 + 6
    assert set(rest) <= set(BASE62)
    assert len(BASE62) ** 43 > 2**256
    assert parse_key(key.text) == key.prefix


def test_is_random():
    keys = [generate_key("live") for _ in range(500)]
    assert len({key.prefix for key in keys}) == len({key.text for key in keys}) == 500


def test_hides_its_text_from_repr():
    key = generate_key("live")
    assert key.text not in repr(key)
    assert key.text.split("_")[3][:10] not in f"{key}"


@given(st.integers(min_value=0, max_value=200), st.sampled_from(BASE62 + "_-"))
def test_notices_one_changed_character(position, replacement):
    text = generate_key("live").text
    position %= len(text)
    changed = text[:position] + replacement + text[position + 1 :]
    assert changed == text or parse_key(changed) is None
    assert parse_key(text + "\n") is None


@given(st.text(max_size=80))
def test_refuses_any_other_text(text):
    assert parse_key(text) is None


def test_keeps_the_checksum_of_a_known_text():
    assert checksum("mnr_live_aaaaaaaa_" + "0" * 43) == "18dnVB"
    assert checksum("") == "000000"


def test_compares_with_the_hash_only():
    key = generate_key("live")
    assert is_same_key(key.text, hash_key(key.text))
    assert not is_same_key(key.text[:-1] + "~", hash_key(key.text))


@table(
    ("expires_at", "revoked_at", "state"),
    [
        (None, None, KeyState.ACTIVE),
        (NOW + SECOND, None, KeyState.ACTIVE),
        (NOW, None, KeyState.EXPIRED),
        (NOW - SECOND, None, KeyState.EXPIRED),
        (NOW + SECOND, NOW - SECOND, KeyState.REVOKED),
        (NOW - SECOND, NOW - SECOND, KeyState.REVOKED),
    ],
)
def test_is_active_until_the_tick_it_expires(expires_at, revoked_at, state):
    assert decide_state(expires_at=expires_at, revoked_at=revoked_at, now=NOW) is state


def test_reads_addresses_and_networks():
    assert parse_networks("203.0.113.7, 10.0.0.5/8  2001:db8::/32") == (
        ipaddress.ip_network("203.0.113.7/32"),
        ipaddress.ip_network("10.0.0.0/8"),
        ipaddress.ip_network("2001:db8::/32"),
    )
    assert parse_networks("  ") == ()


@table("text", ["here", "10.0.0.0/33", "1.2.3", "::g", "10.0.0.1;10.0.0.2"])
def test_refuses_what_is_no_network(text):
    with pytest.raises(ValueError):
        parse_networks(text)


@table(
    ("address", "networks", "inside"),
    [
        ("203.0.113.7", [], True),
        ("", [], True),
        ("", ["10.0.0.0/8"], False),
        ("10.1.2.3", ["192.0.2.0/24", "10.0.0.0/8"], True),
        ("11.1.2.3", ["10.0.0.0/8"], False),
        ("::ffff:10.1.2.3", ["10.0.0.0/8"], True),
        ("2001:db8::1", ["2001:db8::/32"], True),
        ("2001:db9::1", ["2001:db8::/32", "10.0.0.0/8"], False),
    ],
)
def test_knows_who_is_inside(address, networks, inside):
    assert is_inside(address, networks) is inside
