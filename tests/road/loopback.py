"""A router on a real loopback socket: the recorded answers of a real one, or any misbehaviour a test writes out."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from engine.road.osrm import OsrmRoad
from engine.rules.nouns import Leg, NoAnswer, Point, RoadAnswer
from engine.settings import Router

MONACO = Leg(origin=Point(43.72956, 7.41337), destination=Point(43.73980, 7.42450))
PATH = "/route/v1/driving/7.41337,43.72956;7.42450,43.73980?overview=false"


@dataclass(frozen=True)
class Recorded:
    """One file of `osrm_answers`."""

    name: str
    status: int
    headers: dict[str, str]
    body: str
    path: str


def recorded(folder: Path) -> dict[str, Recorded]:
    answers: dict[str, Recorded] = {}
    for file in sorted((folder / "data" / "osrm_answers").glob("*.json")):
        said = json.loads(file.read_text("utf-8"))
        if "status" not in said:
            continue  # an over-long URL that was dropped without any reply: test_a_reply_that_is_cut_off has it
        answers[file.stem] = Recorded(file.stem, said["status"], said["headers"], said["body"], said["path"])
    return answers


@dataclass
class Served:
    """What a loopback server has seen: paths in order, and how many connections were opened."""

    url: str
    paths: list[str] = field(default_factory=list)
    connections: int = 0


def route_ok(duration: object = 144.5, snaps: tuple[object, ...] = (1.1, 15.4)) -> bytes:
    """The shape of an Ok; ``duration`` and ``snaps`` may be anything json writes, NaN included."""
    waypoints = [{"distance": snap, "name": "", "location": [7.4, 43.7]} for snap in snaps]
    return json.dumps(
        {"code": "Ok", "routes": [{"duration": duration, "distance": 1}], "waypoints": waypoints}
    ).encode()


Reply = Callable[[str], tuple[int, bytes] | tuple[int, bytes, dict[str, str]]]


@contextmanager
def http_router(reply: Reply, *, requests_a_connection: int = 512) -> Iterator[Served]:
    """A well-behaved HTTP/1.1 server; like osrm-routed it hangs up, unannounced, after so many requests."""
    served = Served("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1
        left = requests_a_connection

        def setup(self) -> None:
            super().setup()
            served.connections += 1

        def do_GET(self) -> None:
            served.paths.append(self.path)
            status, body, headers = (*reply(self.path), {})[:3]
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                if name.lower() not in ("content-length", "connection", "date", "server"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.left -= 1
            self.close_connection = self.left == 0

        def log_message(self, *args: object, **named: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        served.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


Talk = Callable[[socket.socket, threading.Event], None]


@contextmanager
def raw_router(talk: Talk) -> Iterator[Served]:
    """A socket that does with each connection what ``talk`` says, after having read the request; ended by the event."""
    served, over = Served(""), threading.Event()
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    listener.settimeout(0.02)
    served.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    threads: list[threading.Thread] = []

    def one(connection: socket.socket) -> None:
        with connection:
            connection.settimeout(2)
            try:
                if connection.recv(65536):  # a request is small: it comes whole, or the client has gone
                    talk(connection, over)
            except OSError:
                pass  # the client cut us off: that is what is being tested

    def accept() -> None:
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            served.connections += 1
            threads.append(threading.Thread(target=one, args=(connection,), daemon=True))
            threads[-1].start()

    acceptor = threading.Thread(target=accept)
    acceptor.start()
    try:
        yield served
    finally:
        over.set()
        for thread in (acceptor, *threads):
            thread.join(3)
        listener.close()


# --- asking it -------------------------------------------------------------------------------------------------------

SOON_S = 0.4  # a decision has 500 ms; the margin is for noisy machines
PATIENT_MS = 3000
FIVE = [Leg(origin=Point(43.72956 + n / 500, 7.41337), destination=MONACO.destination) for n in range(5)]


class Clock:
    """Turned by hand, for the breaker, the cache and the counts; deadlines stay real."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def road_to(served: Served, clock: Callable[[], float] = time.monotonic, **settings: object) -> closing[OsrmRoad]:
    return closing(OsrmRoad(Router(url=served.url, **settings), clock=clock))  # type: ignore[arg-type]


def reasons(answers: object) -> list[str]:
    assert isinstance(answers, tuple)
    return [each.reason for each in answers if isinstance(each, NoAnswer)]


def timed(road: OsrmRoad, legs: list[Leg] = FIVE) -> tuple[tuple[RoadAnswer, ...], float]:
    since = time.perf_counter()
    answers = tuple(road.times(legs))
    return answers, time.perf_counter() - since


def wait_until(true: Callable[[], bool], within_s: float = 3.0) -> None:
    until = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < until, "it did not become true in time"
        time.sleep(0.005)
