"""Service areas from GeoJSON: longitude first, whatever the shape. Each feature is an area of one or more parts.

An area's id is the feature's ``id``, else its property ``id`` or ``name``; a bare geometry is called like the file.
"""

from collections.abc import Sequence
from itertools import product
from math import isfinite

from engine.imports.cells import MOST_ID, MOST_NAME, unfit_character
from engine.imports.decoding import decoded
from engine.imports.ids import doubled
from engine.imports.json_text import Fields, Flag, Items, Json, Number, kind, loaded
from engine.imports.parsed import MOST_ROWS, Parsed, Rejected, Wrong, refusal, rejected, whole_file
from engine.rules.nouns import Area, Point
from engine.rules.place import VERTICES_MAX, area_problem, inside

Ring = tuple[Point, ...]
_SAMPLE = 40  # points of a ring that are looked at to tell in which other ring it lies
_INWARD = 1e-6
_COMPARED_MAX = 5_000_000  # borders looked at when parts are compared with each other
_PLANE = "degrees are wanted, longitude first; numbers beyond 180 are metres of a map grid: save it as WGS 84"


def areas(data: bytes, *, name: str, near: Point | None = None) -> Parsed[Area]:
    """Read areas; ``near``, a place of the site, lets swapped coordinates be told where both orders are possible."""
    text = decoded(data)
    found = loaded(text) if isinstance(text, str) else text
    if isinstance(found, Wrong):
        return refusal(whole_file(found.rule, value=name))
    features = _features(found, name)
    if isinstance(features, Wrong):
        return refusal(whole_file(features.rule, value=name))
    items: list[tuple[int, Area]] = []
    refused: list[Rejected] = []
    warnings: list[str] = []
    for row, feature in enumerate(features, start=1):
        area = _area(feature, row, warnings, near)
        if isinstance(area, Area):
            items.append((row, area))
        else:
            refused.append(area)
    twice = doubled([(row, area.id) for row, area in items])
    out = {each.row for each in twice}
    stand = tuple((row, area) for row, area in items if row not in out)
    every = tuple(sorted((*refused, *twice), key=lambda each: each.row))
    return Parsed(items=stand, rejected=every, warnings=tuple(warnings))


def _features(found: Json, name: str) -> Sequence[Json] | Wrong:
    """The features of a document; a bare geometry becomes one that is called like the file."""
    what = found.values.get("type") if isinstance(found, Fields) else None
    if not isinstance(found, Fields) or not isinstance(what, str):
        return Wrong(f"GeoJSON is wanted (an object with a type), and this is {kind(found)}")
    if found.twice is not None:
        return Wrong(f"the key {found.twice!r} stands twice in one object: keep one")
    crs = found.values.get("crs")
    if crs is not None and not _is_wgs84(crs):
        return Wrong("the file names another coordinate system (crs): save it as WGS 84 (EPSG:4326)")
    if what == "FeatureCollection":
        features = found.values.get("features")
        if not isinstance(features, Items) or len(features.values) > MOST_ROWS:
            return Wrong(f"features must be an array of at most {MOST_ROWS:,}")
        return features.values
    if what == "Feature":
        return (found,)
    stem = name.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return (Fields({"type": "Feature", "id": stem, "geometry": found}),)


def _is_wgs84(crs: Json) -> bool:
    properties = crs.values.get("properties") if isinstance(crs, Fields) else None
    named = properties.values.get("name") if isinstance(properties, Fields) else None
    return isinstance(named, str) and named.upper().endswith(("CRS84", "EPSG::4326", "EPSG:4326"))


def _area(feature: Json, row: int, warnings: list[str], near: Point | None) -> Area | Rejected:
    if not isinstance(feature, Fields) or feature.values.get("type") != "Feature":
        return rejected(row, "type", kind(feature), "a Feature is wanted")
    if feature.twice is not None:
        return rejected(row, feature.twice, "", "the key stands twice in one object: keep one")
    named = _names(feature)
    if isinstance(named, Wrong):
        return rejected(row, "id", _text(feature.values.get("id")), named.rule)
    ref, name = named
    parts = _parts(feature.values.get("geometry"))
    if isinstance(parts, Wrong):
        return rejected(row, "geometry", ref, parts.rule)
    if any(ring[0] != ring[-1] for part in parts for ring in part):
        warnings.append(f"row {row}, {ref}: a ring was not closed; its last point is joined to its first")
    parts = [[_opened(ring) for ring in part] for part in parts]
    problem = _problem(parts, near)
    if problem:
        return rejected(row, "geometry", ref, _advised(problem))
    return Area(id=ref, name=name, rings=tuple(ring for part in parts for ring in part))


def _advised(problem: str) -> str:
    return f"{problem}; GeoJSON has longitude first" if "swapped" in problem else problem


# --- names -----------------------------------------------------------------------------------------------------------


def _names(feature: Fields) -> tuple[str, str] | Wrong:
    properties = feature.values.get("properties")
    inner = properties if isinstance(properties, Fields) else Fields({})
    if inner.twice is not None:
        return Wrong(f"the property {inner.twice!r} stands twice: keep one")
    name = _text(inner.values.get("name"))
    ref = _text(feature.values.get("id")) or _text(inner.values.get("id")) or name
    if not ref.strip():
        return Wrong("an area needs an id: the feature's id, or a property id or name")
    if len(ref) > MOST_ID or ref != ref.strip() or not ref.isprintable():
        return Wrong(f"an id has at most {MOST_ID} printable characters and no white space around it")
    if len(name) > MOST_NAME or unfit_character(name):
        return Wrong(f"a name has at most {MOST_NAME} characters; {unfit_character(name)}")
    return ref, name or ref


def _text(value: Json) -> str:
    return str(value) if isinstance(value, str) and not isinstance(value, Flag) else ""


# --- geometry --------------------------------------------------------------------------------------------------------


def _parts(geometry: Json) -> list[list[Ring]] | Wrong:
    """The polygons of a geometry, each an outer ring and its holes."""
    what = geometry.values.get("type") if isinstance(geometry, Fields) else None
    if not isinstance(geometry, Fields) or what not in ("Polygon", "MultiPolygon"):
        shown = what if isinstance(what, str) else kind(geometry)
        return Wrong(f"an area is a Polygon or a MultiPolygon, and this is {shown}")
    coordinates = geometry.values.get("coordinates")
    polygons = coordinates if what == "MultiPolygon" else Items((coordinates,))
    if not isinstance(polygons, Items) or not polygons.values:
        return Wrong("coordinates are wanted: an array of rings of [longitude, latitude]")
    if _vertices(polygons) > VERTICES_MAX + len(polygons.values):
        return Wrong(f"an area has at most {VERTICES_MAX:,} points: simplify it")
    parts: list[list[Ring]] = []
    for polygon in polygons.values:
        rings = [_ring(ring) for ring in polygon.values] if isinstance(polygon, Items) else []
        if not rings:
            return Wrong("a polygon needs an outer ring")
        good = [ring for ring in rings if not isinstance(ring, Wrong)]
        if len(good) < len(rings):
            return next(ring for ring in rings if isinstance(ring, Wrong))
        parts.append(good)
    return parts


def _vertices(polygons: Items) -> int:
    """Positions in all rings, counted before any of them is read."""
    rings = [ring for polygon in polygons.values if isinstance(polygon, Items) for ring in polygon.values]
    return sum(len(ring.values) for ring in rings if isinstance(ring, Items))


def _ring(ring: Json) -> Ring | Wrong:
    if not isinstance(ring, Items) or not ring.values:
        return Wrong("a ring is an array of [longitude, latitude]")
    points: list[Point] = []
    for position in ring.values:
        point = _point(position)
        if isinstance(point, Wrong):
            return point
        points.append(point)
    return tuple(points)


def _point(position: Json) -> Point | Wrong:
    """Longitude first; a third number (altitude) is left out."""
    numbers = [each for each in position.values if isinstance(each, Number)] if isinstance(position, Items) else []
    if not isinstance(position, Items) or not 2 <= len(numbers) == len(position.values) <= 4:
        return Wrong("a position is [longitude, latitude], two numbers")
    lng, lat = float(numbers[0]), float(numbers[1])
    if not (isfinite(lng) and isfinite(lat)):
        return Wrong("a position is two finite numbers")
    return Wrong(_PLANE) if max(abs(lng), abs(lat)) > 180 else Point(lat, lng)


def _opened(ring: Ring) -> Ring:
    return ring[:-1] if len(ring) > 1 and ring[0] == ring[-1] else ring


def _problem(parts: list[list[Ring]], near: Point | None) -> str | None:
    for number, part in enumerate(parts, start=1):
        problem = area_problem(_body(*part), near=near) or _holes_problem(part)
        if problem:
            return problem if len(parts) == 1 else f"part {number}: {problem}"
    return _overlap([_body(*part) for part in parts], "two parts overlap: join them, or make them two areas")


def _holes_problem(part: list[Ring]) -> str | None:
    """Rings of one area are read even-odd, so a hole must lie in its outer ring and in no other hole."""
    outer, *holes = part
    if any(not any(inside(_body(outer), point) for point in _sampled(hole)) for hole in holes):
        return "a hole lies outside its outer ring"
    return _overlap([_body(hole) for hole in holes], "two holes overlap: join them")


def _body(*rings: Ring) -> Area:
    return Area(id="", name="", rings=rings)


def _overlap(bodies: list[Area], rule: str) -> str | None:
    """Whether a sampled point of one lies in another. The work is bounded: many parts close together are refused."""
    boxes = [_box(body.rings[0]) for body in bodies]
    drawn = [_drawn_in(body.rings[0]) for body in bodies] if len(bodies) > 1 else []
    budget = _COMPARED_MAX
    for (one, body), (other, points) in product(enumerate(bodies), enumerate(drawn)):
        budget -= 1
        if one == other or _apart(boxes[one], boxes[other]):
            continue
        budget -= len(points) * sum(map(len, body.rings))
        if budget < 0:
            return "too many parts lie close together to be checked: make them several areas"
        if any(inside(body, point) for point in points):
            return rule
    return None


Box = tuple[float, float, float, float]  # south, north, west, east


def _box(ring: Ring) -> Box:
    lats, lngs = [point.lat for point in ring], [point.lng for point in ring]
    if max(lngs) - min(lngs) > 180:  # across the antimeridian: west and east tell nothing
        return min(lats), max(lats), -180.0, 180.0
    return min(lats), max(lats), min(lngs), max(lngs)


def _apart(one: Box, other: Box) -> bool:
    return one[1] < other[0] or other[1] < one[0] or one[3] < other[2] or other[3] < one[2]


def _sampled(ring: Ring) -> Ring:
    return ring[:: max(1, len(ring) // _SAMPLE)]


def _drawn_in(ring: Ring) -> Ring:
    """Points of a ring moved a little towards its middle, so that parts which only touch do not overlap."""
    points = _sampled(ring)
    lat, lng = sum(p.lat for p in points) / len(points), sum(p.lng for p in points) / len(points)
    return tuple(Point(p.lat + (lat - p.lat) * _INWARD, p.lng + (lng - p.lng) * _INWARD) for p in points)
