"""Road times: the only room that knows httpx. Wiring takes OsrmRoad where a router is configured, else NoRoad.

Nothing is imported here: a site without a router does not wait for httpx at each start of the command line."""
