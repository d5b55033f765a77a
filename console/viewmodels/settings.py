"""The settings in force, as lines: each with its unit in its name, and its default where the site changed it. Pure."""

from dataclasses import dataclass

from console.viewmodels.cells import BOLD, DIM, HEAD, PLAIN, WARN, Line, fit
from console.words import inert


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    """``default``: that of dispatch.toml, where the site's own value differs; "" where it does not."""

    section: str
    name: str
    value: str
    default: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """``policy``: the weights of decisions, by version; they stand above those of [score]."""

    site: str
    tenant: str
    zone: str
    policy: str
    settings: tuple[SettingRow, ...]


def lines(found: InForce, text: str = "") -> list[Line]:
    told: list[Line] = [
        ((inert(f"{found.site} · tenant {found.tenant} · times in {found.zone}"), BOLD),),
        ((inert(found.policy), PLAIN),),
        (("The weights of a decision are the policy's; [score] holds what a new site begins with.", DIM),),
    ]
    words, section = text.casefold().split(), ""
    for each in found.settings:
        if not all(word in f"{each.section} {each.name} {each.value}".casefold() for word in words):
            continue
        if each.section != section:
            section = each.section
            told += [((" ", PLAIN),), ((f"[{inert(section)}]", HEAD),)]
        told.append(
            (
                (f" {fit(each.name, 26)} ", PLAIN),
                (inert(each.value), BOLD if each.default else PLAIN),
                (f"  the site's own; default {inert(each.default)}" if each.default else "", WARN),
            )
        )
    return told if section or not words else [*told, ((" ", PLAIN),), (("no setting matches", DIM),)]
