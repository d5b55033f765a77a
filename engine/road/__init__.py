"""Road times: the only room that knows httpx. Wiring takes OsrmRoad where a router is configured, else NoRoad."""

from engine.road.no_road import NoRoad
from engine.road.osrm import OsrmRoad

__all__ = ["NoRoad", "OsrmRoad"]
