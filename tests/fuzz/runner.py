"""Cases by the batch, each on a new merchant, and what was found."""

import json
import logging
import re
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, given

from payments.domain.catalogue.error_table import CHECKOUT_INVALID, REFUSALS
from tests.contract.shapes import ERROR, faults_in
from tests.fuzz.client import Answer, ask
from tests.fuzz.inputs.calls import shop
from tests.fuzz.inputs.requests import Case, cases
from tests.fuzz.rows import changed, empty, rows

READING = {"GET", "HEAD", "OPTIONS"}
PROJECT_ROOMS = re.compile(r"/(payments|customers|config)/")


@dataclass
class Tally:
    """How many cases were answered how, and of each sort of fault its first case."""

    cases: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    slowest_seconds: float = 0.0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.cases + other.cases,
            self.statuses + other.statuses,
            self.faults + other.faults,
            other.examples | self.examples,
            max(self.slowest_seconds, other.slowest_seconds),
        )

    def figures(self) -> dict[str, object]:
        """Return the report."""
        return {
            "cases": self.cases,
            "statuses": {str(status): self.statuses[status] for status in sorted(self.statuses)},
            "slowest_seconds": round(self.slowest_seconds, 2),
            "faults": dict(self.faults),
            "examples": self.examples,
        }

    def add(self, case: Case, status: int, faults: list[str], seconds: float) -> None:
        """Count one case."""
        self.cases += 1
        self.statuses[status] += 1
        self.slowest_seconds = max(self.slowest_seconds, seconds)
        for fault in faults:
            self.faults[fault] += 1
            self.examples.setdefault(fault, case.shown)


class Batch:
    """Cases against one merchant, one after the other."""

    def __init__(self) -> None:
        empty()
        api, stock = shop()
        self.cases = cases(stock, api.headers()["Authorization"])
        self.tally = Tally()
        self._looked = rows()

    def send(self, case: Case) -> None:
        """Send `case` and counts what is wrong with its answer, or with what it left behind."""
        started = time.perf_counter()
        with _raised() as causes:
            answer = ask(case)
        seconds = time.perf_counter() - started
        before, self._looked = self._looked, rows()
        faults = [f"{fault} {' '.join(causes)}".strip() for fault in faults_of(case, answer)]
        if answer.status >= 400 or (case.is_api and case.method in READING):
            faults += [f"{answer.status} changed {table}" for table in changed(before, self._looked, answer.status)]
        self.tally.add(case, answer.status, faults, seconds)


def run_cases(count: int, seed: object) -> Tally:
    """Draws `count` cases from `seed` and sends them to a new merchant's account."""
    batch = Batch()
    settings = hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    hypothesis.seed(str(seed))(settings(given(case=batch.cases)(batch.send)))()
    return batch.tally


@contextmanager
def _raised() -> Iterator[list[str]]:
    """Where errors that nobody expected came from, as the service logs them."""
    found: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(_place_of(record))

    logger, listener = logging.getLogger("kaha.error"), Listener()
    logger.addHandler(listener)
    try:
        yield found
    finally:
        logger.removeHandler(listener)


def _place_of(record: logging.LogRecord) -> str:
    if not record.exc_info or record.exc_info[1] is None:
        return record.getMessage()
    error = record.exc_info[1]
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if PROJECT_ROOMS.search(frame.filename)] or frames
    return f"{type(error).__name__} at {Path(own[-1].filename).name}:{own[-1].lineno}"


DOCUMENTED = {(refusal.status, refusal.type, code) for refusal in REFUSALS for code in refusal.codes}
# Each rule on a value has a code of its own, more than the document names.
VALIDATION = (422, "validation_error")
# So it is on the paths of checkouts, where the body may be none, too.
VALIDATIONS = {VALIDATION, (CHECKOUT_INVALID.status, CHECKOUT_INVALID.type)}
DONE = {200, 201}
# Pages are for people: they answer in HTML, and send on.
SHOWN = DONE | {303, 304, 400, 403, 404, 405, 410, 413}
JSON = "application/json"
PUBLIC_ID = re.compile(r"[a-z]+_[0-9a-f]{32}")
SECRET = re.compile(r"[0-9](?:[ -]?[0-9]){12}|[spr]k_(?:test|live)_\w{8}|whsec_\w{8}")


def faults_of(case: Case, answer: Answer) -> Iterator[str]:
    """How `answer` is not what `case` should be answered."""
    if answer.status >= 500:
        yield f"{answer.status}"
    elif not case.is_api:
        if answer.status not in SHOWN:
            yield f"a page answers {answer.status}"
    elif answer.status >= 400:
        yield from _faults_of_refusal(case, answer)
    elif answer.status not in DONE:
        yield f"{answer.status} is not documented"
    elif case.method not in ("HEAD", "OPTIONS"):
        yield from _faults_of_type(answer)


def _faults_of_type(answer: Answer) -> Iterator[str]:
    try:
        json.loads(answer.content)
    except ValueError:
        yield "no JSON"
    if answer.headers["Content-Type"] != JSON:
        yield f"not {JSON}"


def _faults_of_refusal(case: Case, answer: Answer) -> Iterator[str]:
    if case.method == "HEAD":
        return
    if faults := [*_faults_of_type(answer)] or faults_in(body := json.loads(answer.content), ERROR):
        yield from faults
        return
    error = body["error"]
    kind = answer.status, error["type"]
    is_about_members = "detail" in body
    if not (is_about_members and kind in VALIDATIONS) and (*kind, error["code"]) not in DOCUMENTED:
        yield f"not documented: {kind} {error['code']}"
    if (is_about_members and kind not in VALIDATIONS) or (kind == VALIDATION and not is_about_members):
        yield "detail is for members of the request, and only for them"
    # A replayed refusal is the first answer byte for byte, and names the first request.
    if error["request_id"] != answer.headers["Request-Id"] and "Idempotent-Replayed" not in answer.headers:
        yield "the request has two IDs"
    if SECRET.search(PUBLIC_ID.sub("", answer.content.decode())):
        yield "the refusal repeats a secret"
