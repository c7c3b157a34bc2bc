"""A way to a server that can be closed: whoever is on it loses the connection, and nobody gets through."""

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Self


class Proxy:
    """Passes bytes on to a server while it is open."""

    def __init__(self, host: str, port: int) -> None:
        self.target, self.port = (host, port), 0
        self.loop = asyncio.new_event_loop()
        self.writers: set[asyncio.StreamWriter] = set()
        self.server: asyncio.Server | None = None

    def __enter__(self) -> Self:
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.open()
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()
        self.loop.call_soon_threadsafe(self.loop.stop)

    def run(self, step: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(step, self.loop).result(10)

    def open(self) -> None:
        """Let everybody through, at the same port as before."""
        self.run(self._open())

    def close(self) -> None:
        """Refuse connections, and end those that are there."""
        self.run(self._close())

    async def _open(self) -> None:
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self.server:
            self.server.close()
        for writer in self.writers:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection(*self.target)
        self.writers |= {writer, there_writer}
        await asyncio.gather(pass_on(reader, there_writer), pass_on(there_reader, writer))
        self.writers -= {writer, there_writer}


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
