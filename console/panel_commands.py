"""The keys of the trainer's panel: a fault each, and the pace of the training clock."""

from collections.abc import Mapping

FAULT_KEYS: Mapping[str, str] = {
    "router_down": "r", "router_slow": "h", "router_back": "R", "gps_silent": "n", "gps_back": "N", "late_packet": "l",
    "declines": "d", "dies": "x", "pause": "p", "resume": "w", "relieve": "b", "clock_ahead": "c", "clock_back": "C",
    "lose_index": "i",
}  # fmt: skip
PACES: Mapping[str, tuple[float, str]] = {
    "0": (0.0, "stands"), "1": (1.0, "×1"), "2": (10.0, "×10"), "3": (60.0, "×60"),
}  # fmt: skip
SECOND_KEY = "full_stop"
"""One second of training time passes."""
