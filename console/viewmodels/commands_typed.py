"""The typed language of the desk: a prefix of a verb, then a job, a worker, a reason, words. Pure.

What is wrong is one line of words; nothing typed is obeyed unless all of it is understood."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from console.viewmodels.commands_may import DeskState, Typed
from console.viewmodels.rows import AlertRow, JobRow
from console.words import inert
from engine.rules.words import LETTERS_MIN, letters

MARKED = "marked"
BACK = "back"
SNOOZE_MAX_MIN = 24 * 60
SHOWN_MAX = 6
OFFER = re.compile(r"[OoDd]-[A-Za-z0-9]{4,}")
MINUTES = re.compile(r"(\d{1,4})(m|min|h)?")


@dataclass(frozen=True, slots=True)
class Verb:
    """``takes``: the kinds of what follows, in order; those with "?" may be left out."""

    name: str
    command: str
    takes: tuple[str, ...] = ()
    force: bool = False


REASONED = ("job", "reason?")
VERBS = (
    Verb("offer", "assign", ("job", "worker?", "reason?")),
    Verb("assign", "assign", ("job",)),
    Verb("force", "override", ("job", "worker?", "reason?"), force=True),
    Verb("override", "override", ("job", "worker?", "reason?")),
    *(Verb(name, name, REASONED) for name in ("withdraw", "release", "reassign", "cancel")),
    Verb("preempt", "preempt", ("job", "other?", "reason?")),
    *(Verb(name, name, ("job",)) for name in ("accept", "decline", "start", "finish", "why", "go", "mark")),
    Verb("handoff", "handoff", ("worker", "region", "reason?")),
    Verb("ack", "acknowledge", ("alert",)),
    Verb("own", "own", ("alert",)),
    Verb("snooze", "snooze", ("alert", "minutes")),
    Verb("escalate", "escalate", ("alert",)),
    Verb("resolve", "resolve", ("alert", "reason?")),
    Verb("find", "find", ("text",)),
    Verb("filter", "filter", ("text?",)),
    Verb("audit", "audit", ("text?",)),
    Verb("workers", "workers", ("text?",)),
    Verb("save", "save", ("text",)),
    Verb("recall", "recall", ("text?",)),
    Verb("forget", "forget", ("text",)),
    *(Verb(name, name) for name in ("undo", "unmark", "unassigned", "sort", "mute", "lock", "theme", "help")),
    Verb("quit", "leave"),
)
BULK = frozenset({"assign", "withdraw", "release", "reassign", "cancel"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What names may be used: jobs and alerts as shown, workers' names by id, the codes of reasons, the verbs (others
    than VERBS where the desk knows more), and the site's regions."""

    jobs: Mapping[str, JobRow]
    alerts: Mapping[str, AlertRow]
    names: Mapping[str, str]
    reasons: tuple[str, ...]
    verbs: tuple[Verb, ...] = VERBS
    regions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    command: str
    state: DeskState


class Wrong(Exception):
    """What was typed is not understood; the text says it in one line."""


def told(verb: str, target: str, code: str = "", words: str = "") -> str:
    """An act as it would be typed."""
    line = f"/{verb} {target}" + (f" {code}" if code else "")
    return f'{line} "{words.replace(chr(34), chr(39))}"' if words else line


def tokens(line: str) -> list[str]:
    """Words, or what stands between double quotes. Raises Wrong for a quote that is not closed."""
    found = re.findall(r'"([^"]*)"|([^\s"]+)', line)
    if line.count('"') % 2:
        raise Wrong('a quote (") is not closed')
    return [quoted or plain for quoted, plain in found]


def verb_of(name: str, verbs: tuple[Verb, ...] = VERBS) -> Verb:
    """The one verb that begins so. Raises Wrong."""
    name = name.casefold()
    exact = [each for each in verbs if each.name == name]
    found = exact or [each for each in verbs if each.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Wrong(f"{name}: no such verb; ? lists them")
    raise Wrong(f"{name} may be {', '.join(each.name for each in found)}: type on")


def parse(line: str, state: DeskState, known: Known) -> Meant:
    """What a line means on what is selected. Raises Wrong."""
    words = tokens(line.strip().removeprefix("/"))
    if not words:
        raise Wrong("nothing was typed")
    verb = verb_of(words[0], known.verbs) if (named := _of_id(words, known)) is None else named
    if named is not None:
        line, words = f"{named.name} {words[0]}", ["", words[0]]
    reader = _Reader(verb, words[1:], state, known, line)
    for kind in verb.takes:
        reader.take(kind)
    if reader.rest:
        raise Wrong(f"{reader.rest[0]}: not understood after {verb.name}{reader.hint()}")
    return Meant(command=verb.command, state=reader.state)


def _of_id(words: list[str], known: Known) -> Verb | None:
    """What an id alone means: a job is gone to; any other is searched for, in jobs, workers, offers and the audit."""
    word = words[0]
    if len(words) > 1 or any(each.name == word.casefold() for each in known.verbs):
        return None
    if by_id(word, known.jobs) is not None:
        return next(each for each in known.verbs if each.name == "go")
    found = _like_id(word) or OFFER.fullmatch(word) or word.startswith("#") or by_id(word, known.names)
    return next(each for each in known.verbs if each.name == "find") if found else None


class _Reader:
    """Takes one kind after the other off the words."""

    def __init__(self, verb: Verb, rest: list[str], state: DeskState, known: Known, line: str) -> None:
        self.verb, self.rest, self.known = verb, rest, known
        self.typed = Typed(line=line, force=verb.force)
        self._marked, self._marked_alerts = state.marked, state.marked_alerts
        self._state = replace(state, marked=(), marked_alerts=())

    @property
    def state(self) -> DeskState:
        return replace(self._state, typed=self.typed)

    def hint(self) -> str:
        return f" (reasons: {', '.join(self.known.reasons)})" if "reason?" in self.verb.takes else ""

    def take(self, kind: str) -> None:
        named = {"job": self._job, "other?": self._other, "worker?": self._worker, "alert": self._alert,
                 "worker": self._one, "region": self._region}  # fmt: skip
        said = {"reason?": self._reason, "minutes": self._minutes, "text": self._text, "text?": self._maybe_text}
        (named | said)[kind]()

    def _next(self) -> str:
        return self.rest[0] if self.rest else ""

    def _job(self) -> None:
        word = self._next()
        if word.casefold() == MARKED and self.verb.command in BULK:
            if not self._marked:
                raise Wrong("no job is marked")
            self.rest.pop(0)
            self._state = replace(self._state, marked=self._marked)
            return
        found = by_id(word, self.known.jobs)
        if found is not None:
            self.rest.pop(0)
            self._state = replace(self._state, job=self.known.jobs[found])
        elif _like_id(word) and by_id(word, self.known.names) is None:
            raise Wrong(f"{word}: no such job")
        elif self._state.job is None:
            raise Wrong(f"{self.verb.name}: which job? None is selected")

    def _other(self) -> None:
        found = by_id(self._next(), self.known.jobs)
        if found is not None:
            self.rest.pop(0)
            self.typed = replace(self.typed, other_job=found)
        elif _like_id(self._next()):
            raise Wrong(f"{self._next()}: no such job")

    def _worker(self) -> None:
        word = self._next()
        if not word or (len(self.rest) > 1 and self._code(word) and not workers_of(word, self.known.names)):
            return
        self._one()

    def _one(self) -> None:
        """The worker that is named, and nobody by default: the selected thing is a job."""
        word = self._next()
        if not word:
            raise Wrong(f"{self.verb.name}: which worker?")
        found = workers_of(word, self.known.names)
        if len(found) > 1:
            raise Wrong(f"{word} may be {', '.join(found[:SHOWN_MAX])}: type the id")
        if not found:
            raise Wrong(f"{word}: no such worker")
        self.rest.pop(0)
        self.typed = replace(self.typed, worker_id=found[0])

    def _region(self) -> None:
        word = self._next()
        found = by_id(word, self.known.regions)
        if found is None and word.casefold() != BACK:
            said = f"{word}: no such region" if word else f"{self.verb.name}: to which region?"
            raise Wrong(f"{said}; one of {', '.join(self.known.regions)}, or {BACK} to take back one that waits")
        self.rest.pop(0)
        self.typed = replace(self.typed, region=found or "", back=found is None)

    def _code(self, word: str) -> str:
        word = word.casefold().replace("-", "_")
        exact = [each for each in self.known.reasons if each == word]
        found = exact or [each for each in self.known.reasons if word and each.startswith(word)]
        return found[0] if len(found) == 1 else ""

    def _reason(self) -> None:
        if not self.rest:
            return
        code = self._code(self.rest[0])
        if not code:
            raise Wrong(f"{self.rest[0]}: not a reason; one of {', '.join(self.known.reasons)}")
        words = " ".join(self.rest[1:]).strip()
        short = LETTERS_MIN - letters(words)
        if short > 0:
            raise Wrong(f"{code}: {short} more letters of words are wanted; the audit keeps them")
        self.rest = []
        self.typed = replace(self.typed, reason=code, words=words)

    def _alert(self) -> None:
        if self._next().casefold() == MARKED:
            if not self._marked_alerts:
                raise Wrong("no alert is marked")
            self.rest.pop(0)
            self._state = replace(self._state, marked_alerts=self._marked_alerts)
            return
        found = by_id(self._next(), self.known.alerts)
        if found is not None:
            self.rest.pop(0)
            self._state = replace(self._state, alert=self.known.alerts[found])
        elif _like_id(self._next()):
            raise Wrong(f"{self._next()}: no such open alert")
        elif self._state.alert is None:
            raise Wrong(f"{self.verb.name}: which alert? None is selected")

    def _minutes(self) -> None:
        word = self.rest.pop(0) if self.rest else ""
        found = MINUTES.fullmatch(word)
        minutes = int(found[1]) * (60 if found[2] == "h" else 1) if found else 0
        if not 0 < minutes <= SNOOZE_MAX_MIN:
            raise Wrong(f"{self.verb.name}: for how long? Minutes are wanted, as in 10m, at most 24h")
        self.typed = replace(self.typed, minutes=minutes)

    def _maybe_text(self) -> None:
        text = self.typed.line.strip().removeprefix("/").partition(" ")[2].strip()
        self.rest = []
        self.typed = replace(self.typed, text=text)

    def _text(self) -> None:
        self._maybe_text()
        if not self.typed.text:
            raise Wrong(f"{self.verb.name}: what?")


def _like_id(word: str) -> bool:
    return re.fullmatch(r"[A-Za-z]+-?\d+", word) is not None


def by_id(word: str, known: Iterable[str]) -> str | None:
    """J-42 for J-42, j-42 or j42; w01 for w1; an id by its symbols; where nobody else is meant by it."""
    if not word:
        return None
    ids = list(known)
    if word in ids and sum(inert(each) == word for each in ids) < 2:
        return word
    plain = _plain(word)
    found = [each for each in ids if _plain(inert(each)) == plain]
    return found[0] if len(found) == 1 else None


def _plain(word: str) -> str:
    """Without case, dashes and leading zeros of numbers."""
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", word.casefold().replace("-", ""))


def workers_of(word: str, names: Mapping[str, str]) -> list[str]:
    """Worker ids by id, else by the whole name, else by the beginning of one of its words."""
    if not word:
        return []
    if (found := by_id(word, names)) is not None:
        return [found]
    low = word.casefold()
    whole = [each for each, name in names.items() if name.casefold() == low]
    if whole:
        return whole
    return [each for each, name in names.items() if any(part.startswith(low) for part in name.casefold().split())]


# --- completion -----------------------------------------------------------------------------------------------------


def hint(line: str, known: Known, forms: Mapping[str, str]) -> str:
    """One line under what is being typed: the verbs that begin so, or the form and what fits next."""
    text = line.lstrip().removeprefix("/")
    name, gap, _ = text.partition(" ")
    if not gap:
        return "  ".join(each.name for each in known.verbs if each.name.startswith(name.casefold())) or "no such verb"
    try:
        verb = verb_of(name, known.verbs)
    except Wrong as wrong:
        return str(wrong)
    fits = candidates(line, known)
    form = forms.get(verb.command) or verb.name
    return f"{form}   {'  '.join(fits[:SHOWN_MAX])}" if fits else form


def candidates(line: str, known: Known) -> list[str]:
    """What the last word may become."""
    text = line.lstrip().removeprefix("/")
    name, gap, _ = text.partition(" ")
    last = text.rpartition(" ")[2].casefold()
    if not gap:
        return [each.name for each in known.verbs if each.name.startswith(last)]
    try:
        takes = verb_of(name, known.verbs).takes
    except Wrong:
        return []
    if takes[:1] == ("worker",):
        return _next_of_worker(text, last, known)
    if not last or last.startswith('"'):
        return []
    fits: list[str] = []
    if "job" in takes or "other?" in takes:
        fits += [each for each in known.jobs if _begins(each, last)]
    if "alert" in takes:
        fits += [each for each in known.alerts if _begins(each, last)]
    if "worker?" in takes:
        fits += workers_of(last, known.names)
    if "reason?" in takes:
        fits += [each for each in known.reasons if each.startswith(last)]
    return fits


def _next_of_worker(text: str, last: str, known: Known) -> list[str]:
    """What may follow a verb that begins with a worker: one, then a region, then a reason."""
    try:
        before = len(tokens(text[: len(text) - len(last)])) - 1
    except Wrong:
        return []
    if before == 0:
        return workers_of(last, known.names)
    if before == 1:
        return [each for each in (*known.regions, BACK) if _begins(each, last)]
    return [each for each in known.reasons if last and each.startswith(last)] if before == 2 else []


def _begins(each: str, last: str) -> bool:
    return each.casefold().replace("-", "").startswith(last.replace("-", ""))


def completed(line: str, known: Known) -> str:
    """The line with its last word made whole, where one thing fits best; symbols, as a box prints what it holds."""
    fits = candidates(line, known)
    if not fits:
        return line
    head, gap, _ = line.rpartition(" ")
    slash = "/" if not gap and line.startswith("/") else ""
    word = inert(fits[0])
    if " " in word and '"' not in word:
        word = f'"{word}"'
    return f"{head}{gap}{slash}{word} "
