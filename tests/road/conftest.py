"""A real OSRM for the tests of this room, where it can be had."""

from tests.routers import heidelberg_router, krems_router, map_source, osrm_dir, start_router

__all__ = ["heidelberg_router", "krems_router", "map_source", "osrm_dir", "start_router"]
