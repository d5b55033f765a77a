"""Road times: the only room that knows httpx. Wiring takes OsrmRoad where a router is configured, else NoRoad."""

from engine.road.osrm import NoRoad, OsrmRoad
from engine.road.tally import RoadState

__all__ = ["NoRoad", "OsrmRoad", "RoadState"]
