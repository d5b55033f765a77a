"""One row into one noun."""

import json
from typing import cast

import msgspec

from engine.program import Row, Scalar
from engine.rules.ledger import Alert, AuditRow, Considered, Decision, Policy, Summary
from engine.rules.nouns import (
    Area,
    Booking,
    Confidence,
    Interval,
    Job,
    JobState,
    Offer,
    OfferState,
    Point,
    Promise,
    Worker,
)


def number(value: Scalar) -> int:
    return cast(int, value)


def text(value: Scalar) -> str:
    return cast(str, value)


def text_or_none(value: Scalar) -> str | None:
    return cast(str | None, value)


def skills(value: Scalar) -> frozenset[str]:
    return frozenset(text(value).split("\n")) - {""}


def point(row: Row, lat: str = "lat", lng: str = "lng") -> Point:
    return Point(cast(float, row[lat]), cast(float, row[lng]))


def skilled(row: Row) -> tuple[str, frozenset[str]]:
    return text(row["worker_id"]), skills(row["skills"])


def job(row: Row) -> Job:
    return Job(
        id=text(row["job_id"]),
        type=text(row["type"]),
        skills=skills(row["skills"]),
        place=point(row),
        not_before_ms=number(row["not_before_ms"]),
        due_by_ms=number(row["due_by_ms"]),
        duration_ms=number(row["duration_ms"]),
        priority=number(row["priority"]),
        address=text(row["address"]),
        notes=text(row["notes"]),
        attachments=text(row["attachments"]),
        region=text(row["region_id"]),
        state=JobState(text(row["state"])),
        version=number(row["version"]),
        created_ms=number(row["created_ms"]),
        live_offer_id=text_or_none(row["live_offer_id"]),
        held_offer_id=text_or_none(row["held_offer_id"]),
        worker_id=text_or_none(row["worker_id"]),
        done_by=text_or_none(row["done_by"]),
        started_ms=cast(int | None, row["started_ms"]),
        finished_ms=cast(int | None, row["finished_ms"]),
        missed=bool(row["missed"]),
    )


def worker(
    row: Row, *, shifts: tuple[Interval, ...], absences: tuple[Interval, ...], bookings: tuple[Booking, ...]
) -> Worker:
    area_id = row["area_id"]
    return Worker(
        id=text(row["worker_id"]),
        name=text(row["name"]),
        skills=skills(row["skills"]),
        home=point(row, "home_lat", "home_lng"),
        shifts=shifts,
        capacity=number(row["capacity"]),
        region=text(row["region_id"]),
        generation=number(row["generation"]),
        travels=bool(row["travels"]),
        moving_to=text_or_none(row["moving_to"]),
        jobs_today=number(row["jobs_today"] or 0),
        area=None if area_id is None else area(area_id, row["area_name"], row["area_rings"]),
        live_offer_id=text_or_none(row["live_offer_id"]),
        offered_ms=cast(int | None, row["tried_ms"]),
        idle_since_ms=number(row["idle_since_ms"]),
        absences=absences,
        bookings=bookings,
    )


def area(area_id: Scalar, name: Scalar, rings: Scalar) -> Area:
    parsed = cast(list[list[tuple[float, float]]], json.loads(text(rings)))
    return Area(
        id=text(area_id), name=text(name), rings=tuple(tuple(Point(lat, lng) for lat, lng in ring) for ring in parsed)
    )


def booking(row: Row) -> Booking:
    return Booking(
        job_id=text(row["job_id"]),
        offer_id=text(row["offer_id"]),
        lane=number(row["lane"]),
        starts_ms=number(row["starts_ms"]),
        ends_ms=number(row["ends_ms"]),
        arrival_ms=number(row["arrival_ms"]),
        travel_ms=number(row["travel_ms"]),
        place=point(row),
        started_ms=cast(int | None, row["started_ms"]),
    )


def offer(row: Row) -> Offer:
    return Offer(
        id=text(row["offer_id"]),
        job_id=text(row["job_id"]),
        worker_id=text(row["worker_id"]),
        state=OfferState(text(row["state"])),
        created_ms=number(row["created_ms"]),
        expires_ms=number(row["expires_ms"]),
        region=text(row["region_id"]),
        epoch=number(row["epoch"]),
        generation=number(row["generation"]),
        promise=Promise(
            lane=number(row["lane"]),
            arrival_ms=number(row["arrival_ms"]),
            travel_ms=number(row["travel_ms"]),
            starts_ms=number(row["starts_ms"]),
            ends_ms=number(row["ends_ms"]),
            eta_s=number(row["eta_s"]),
            band_from_ms=number(row["band_from_ms"]),
            band_to_ms=number(row["band_to_ms"]),
            confidence=Confidence(text(row["confidence"])),
        ),
        decision_id=text_or_none(row["decision_id"]),
        made_by=text(row["made_by"]),
        answered_ms=cast(int | None, row["answered_ms"]),
        delivered_ms=cast(int | None, row["delivered_ms"]),
    )


def policy(row: Row) -> Policy:
    return Policy(
        version=number(row["version"]),
        w_eta=cast(float, row["w_eta"]),
        w_fair=cast(float, row["w_fair"]),
        w_slack=cast(float, row["w_slack"]),
        eta_band_min=number(row["eta_band_min"]),
        set_by=text(row["set_by"]),
        set_ms=number(row["set_ms"]),
    )


def alert(row: Row) -> Alert:
    return Alert(
        id=text(row["alert_id"]),
        kind=text(row["kind"]),
        cause=text(row["cause"]),
        severity=number(row["severity"]),
        job_id=text_or_none(row["job_id"]),
        worker_id=text_or_none(row["worker_id"]),
        detail=text(row["detail"]),
        open=row["state"] == "OPEN",
        opened_ms=number(row["opened_ms"]),
        last_ms=number(row["last_ms"]),
        seen=number(row["seen"]),
        acked_by=text_or_none(row["acked_by"]),
        owner=text_or_none(row["owner"]),
        snoozed_until_ms=number(row["snoozed_until_ms"]),
        escalated=number(row["escalated"]),
    )


def summary(value: Scalar) -> Summary:
    return msgspec.json.decode(text(value), type=Summary)


def decision(row: Row) -> Decision:
    detail = text_or_none(row["detail"])
    return Decision(
        id=text(row["decision_id"]),
        job_id=text(row["job_id"]),
        made_ms=number(row["made_ms"]),
        outcome=text(row["outcome"]),
        total_us=number(row["total_us"]),
        summary=summary(row["summary"]),
        considered=None if detail is None else msgspec.json.decode(detail, type=tuple[Considered, ...]),
    )


def audit_row(row: Row) -> AuditRow:
    return AuditRow(
        seq=number(row["seq"]),
        at_ms=number(row["at_ms"]),
        actor=text(row["actor"]),
        role=text(row["role"]),
        act=text(row["act"]),
        job_id=text_or_none(row["job_id"]),
        worker_id=text_or_none(row["worker_id"]),
        offer_id=text_or_none(row["offer_id"]),
        reason=text(row["reason"]),
        words=text(row["words"]),
        detail=text(row["detail"]),
        prev_hash=text(row["prev_hash"]),
        hash=text(row["hash"]),
    )
