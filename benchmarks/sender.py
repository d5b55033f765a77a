"""A city's phones in a process of their own: batches of 100 JSON fixes at a steady rate, on standard output.

Each batch is four bytes of length and the lines. Ends when nobody reads any more.
"""

import random
import struct
import sys
import time

from benchmarks.city import name_of, radius_m, spots, wall_ms
from engine.verbs.fix_lines import FixLine, line_of, write_lines

BATCH = 100
STEP_DEG = 0.0001  # about 10 m between two fixes of a worker


def main(count: int, rate: int) -> None:
    places = [(place.lat, place.lng) for place in spots(count, radius_m(count), seed=1)]
    chance, turn, began, sent = random.Random(3), 0, time.monotonic(), 0
    while True:
        wait_s = began + sent / rate - time.monotonic()
        if wait_s > 0:
            time.sleep(wait_s)
        lines: list[FixLine] = []
        now_ms = wall_ms()
        for n in range(turn, turn + BATCH):
            lat, lng = places[n % count]
            lat, lng = round(lat + chance.uniform(-STEP_DEG, STEP_DEG), 6), round(lng, 6)
            lines.append(line_of(name_of(n % count), now_ms, lat, lng, 8.0))
        turn, sent = (turn + BATCH) % count, sent + BATCH
        batch = write_lines(lines)
        sys.stdout.buffer.write(struct.pack("!I", len(batch)) + batch)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), int(sys.argv[2]))
    except (BrokenPipeError, KeyboardInterrupt):
        sys.stderr.close()
