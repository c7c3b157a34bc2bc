"""What has to hold before the children of `minara up` start; each refusal is one line that helps."""

import socket

import pytest
from django.core.management import CommandError, call_command

from minara_site.kernel.processes import start
from minara_site.kernel.processes.start import collect_static_files, find_address
from tests.kit.site import free_port
from tests.kit.tables import table


def test_static_files_are_collected_only_after_a_change(settings, monkeypatch, tmp_path):
    settings.STATIC_ROOT = tmp_path
    called = []
    monkeypatch.setattr(
        start,
        "call_command",
        lambda name, **options: called.append((name, options["clear"])),
    )
    collect_static_files()
    collect_static_files()
    assert called == [("collectstatic", True)]
    monkeypatch.setattr(start, "fingerprint_static_files", lambda: "another")
    collect_static_files()
    assert len(called) == 2


def test_a_taken_port_and_a_host_that_is_not_ours_are_refused():
    assert find_address("127.0.0.1", free_port()) == "127.0.0.1"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=rf"^Port {port} on 127\.0\.0\.1 is taken\..*--port\.$"):
            find_address("127.0.0.1", port)
    with pytest.raises(CommandError, match=r"^Cannot listen on 192\.0\.2\.1, port \d+: .*--host and --port\.$"):
        find_address("192.0.2.1", free_port())


@table(
    ("flag", "value"),
    [("--port", "0"), ("--port", "65536"), ("--port", "http"), ("--workers", "0"), ("--workers", "-1")],
)
def test_a_number_that_cannot_be_is_refused(flag, value):
    with pytest.raises(CommandError, match=f"argument {flag}: choose "):
        call_command("up", f"{flag}={value}")
