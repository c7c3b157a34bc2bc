"""One MCP exchange inside a WSGI request: the SDK's ASGI application gets one request and gives one answer.

Each request has an event loop of its own in this thread, so that no session, no task and no caller outlives it. A tool
runs in the thread of the request (`thread_sensitive`), with its database connection.
"""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import async_to_sync
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from minara_site.access.principal import Principal
from minara_site.agent.mcp.server import SERVER, caller

Message = MutableMapping[str, Any]


@dataclass
class Exchange:
    """What one request says, and what is answered: status, headers and body."""

    scope: dict[str, Any]
    body: bytes
    status: int = 500
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    content: bytearray = field(default_factory=bytearray)
    is_read: bool = False

    async def receive(self) -> Message:
        """Give the body once, then say that the caller has gone."""
        if self.is_read:
            return {"type": "http.disconnect"}
        self.is_read = True
        return {"type": "http.request", "body": self.body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Take a part of the answer."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message.get("headers", ()))
        else:
            self.content += message.get("body", b"")


def run_exchange(
    principal: Principal,
    *,
    headers: Mapping[str, str],
    body: bytes,
    security: TransportSecuritySettings,
) -> Exchange:
    """Answer one POST of this caller."""
    named = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "root_path": "",
        "headers": named,
    }
    exchange = Exchange(scope, body)
    token = caller.set(principal)
    try:
        async_to_sync(serve)(SERVER, exchange, security)
    finally:
        caller.reset(token)
    return exchange


async def serve(
    server: Server[Any],
    exchange: Exchange,
    security: TransportSecuritySettings,
) -> None:
    """Let the SDK answer, without sessions and without streams."""
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        security_settings=security,
    )
    async with manager.run():
        await manager.handle_request(exchange.scope, exchange.receive, exchange.send)
