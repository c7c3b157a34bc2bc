"""Requests are read whole, within a size and a time, before the one thread of this process takes them.

The web server speaks ASGI; `WholeRequests` stands between it and a WSGI application. Neither a body that arrives slowly
nor an answer that nobody reads holds the thread: the event loop waits for both, and for each it holds a socket and a
bounded part of the text.
"""

import asyncio
import io
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast
from urllib.parse import unquote_to_bytes

BODY_SECONDS = 30  # for each MiB that is declared, and for less
UNREAD_SECONDS = 60  # that the other side may take nothing of an answer
SMALL_BODY = 1024 * 1024  # a larger one is read only when the application says so
IN_MEMORY = PART = 64 * 1024
BODY_STATUS = "minara.body_status"  # why the body is missing: it is to come, it was late, there was no room for it

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Environ = dict[str, Any]
WsgiApplication = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class CallerGone(Exception):
    """The caller hung up before the request was whole."""


class WholeRequests:
    """An ASGI application that lets a WSGI application answer, in one thread."""

    def __init__(self, application: WsgiApplication) -> None:
        self.application = application
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="answers")
        self.is_listening = False

    async def __call__(
        self,
        scope: Message,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer one request."""
        if not self.is_listening:
            self.is_listening = True
            end_unread_connections(scope["server"][1])
        environ = environ_of(scope)
        with suppress(CallerGone):
            answer = await self.answer(environ, receive)
            await self.send(answer, send)

    async def answer(self, environ: Environ, receive: Receive) -> "Answer":
        """Read the body and have the request answered; a large body only when the application wants it."""
        length = declared_length(environ)
        if length > SMALL_BODY:
            answer = await self.run(
                environ | {BODY_STATUS: HTTPStatus.CONTINUE},
                io.BytesIO(),
            )
            if answer.status != HTTPStatus.CONTINUE:
                return answer
        if not length:
            return await self.run(environ, io.BytesIO())
        with SpooledTemporaryFile(IN_MEMORY) as body:
            try:
                async with asyncio.timeout(BODY_SECONDS * max(1, length / SMALL_BODY)):
                    await read_body(body, length, receive)
            except TimeoutError:
                return await self.run(
                    environ | {BODY_STATUS: HTTPStatus.REQUEST_TIMEOUT},
                    io.BytesIO(),
                )
            except OSError:  # no room for the temporary file
                return await self.run(
                    environ | {BODY_STATUS: HTTPStatus.SERVICE_UNAVAILABLE},
                    io.BytesIO(),
                )
            body.seek(0)
            return await self.run(environ, cast("BinaryIO", body))

    async def run(self, environ: Environ, body: BinaryIO) -> "Answer":
        """Have the application begin its answer."""
        answer = Answer(environ | {"wsgi.input": body})
        await self.in_thread(answer.begin, self.application)
        return answer

    async def send(self, answer: "Answer", send: Send) -> None:
        """Send the answer; a long one part by part, as the caller reads it."""
        await send(
            {
                "type": "http.response.start",
                "status": answer.status,
                "headers": answer.headers,
            }
        )
        while not answer.is_over:
            try:
                async with asyncio.timeout(UNREAD_SECONDS):
                    await send(
                        {
                            "type": "http.response.body",
                            "body": answer.part,
                            "more_body": True,
                        }
                    )
            except (TimeoutError, OSError, RuntimeError):  # nobody reads it, or the caller has gone
                await self.in_thread(answer.close)
                return
            await self.in_thread(answer.take)
        await send({"type": "http.response.body", "body": answer.part})

    async def in_thread(self, act: Callable[..., Any], *arguments: Any) -> Any:
        """Run it in the thread, behind what waits for that already."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, act, *arguments)


async def read_body(body: Any, length: int, receive: Receive) -> None:
    """Read as many bytes as were declared. Raises CallerGone."""
    while length > 0:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise CallerGone
        part = message.get("body", b"")
        body.write(part)
        length -= len(part)


class Answer:
    """What the application answers, taken in parts; all of its methods but the constructor run in the thread."""

    def __init__(self, environ: Environ) -> None:
        self.environ = environ
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.part = b""
        self.is_over = False
        self.content: Iterable[bytes] = ()
        self.parts: Iterator[bytes] = iter(())

    def begin(self, application: WsgiApplication) -> None:
        """Let the application answer, and take the first part."""
        self.content = application(self.environ, self.start)
        self.parts = iter(self.content)
        self.take()

    def start(
        self,
        status: str,
        headers: list[tuple[str, str]],
        exc_info: Any = None,
    ) -> None:
        """Keep status and headers: WSGI's `start_response`. A request that was not read whole ends its connection."""
        self.status = int(status.partition(" ")[0])
        self.headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        if BODY_STATUS in self.environ:
            self.headers.append((b"connection", b"close"))

    def take(self) -> None:
        """Take the next part, and close the answer behind its last."""
        taken, size = [], 0
        try:
            for some in self.parts:
                taken.append(some)
                size += len(some)
                if size >= PART:
                    break
            else:
                self.close()
        except BaseException:
            self.close()
            raise
        self.part = b"".join(taken)

    def close(self) -> None:
        """Say that the answer is over, as WSGI asks for."""
        self.is_over = True
        close = getattr(self.content, "close", None)
        if close is not None:
            close()


def end_unread_connections(port: int) -> None:
    """Have the system end connections at our port, those to come too, whose other side takes nothing for so long."""
    for file in list(Path("/dev/fd").iterdir()) if hasattr(socket, "TCP_USER_TIMEOUT") else ():
        with suppress(OSError):  # no socket, or none with a port
            ours = socket.socket(fileno=int(file.name))
            try:
                if ours.family in {socket.AF_INET, socket.AF_INET6} and ours.getsockname()[1] == port:
                    ours.setsockopt(
                        socket.IPPROTO_TCP,
                        socket.TCP_USER_TIMEOUT,
                        UNREAD_SECONDS * 1000,
                    )
            finally:
                ours.detach()


def declared_length(environ: Environ) -> int:
    """Return the length of the body; 0 where none is declared, which the application judges."""
    length = environ.get("CONTENT_LENGTH", "")
    return int(length) if length.isascii() and length.isdecimal() else 0


def environ_of(scope: Message) -> Environ:
    """Return the request as WSGI has it, without its body.

    A name with an underscore is left out: `X_Forwarded_For` would read as the header that a trusted proxy writes.
    """
    (host, port), caller = scope["server"], scope["client"]
    environ: Environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": caller[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for header, value in scope["headers"]:
        if b"_" in header:
            continue
        name = header.decode("latin-1").upper().replace("-", "_")
        key = name if name in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{name}"
        text, before = value.decode("latin-1"), environ.get(key)
        environ[key] = text if before is None else f"{before}{'; ' if header == b'cookie' else ','}{text}"
    return environ
