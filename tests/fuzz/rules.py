"""What must be true of every answer."""

import json
import re
from collections.abc import Iterator

from payments.domain.catalogue.error_table import CHECKOUT_INVALID, REFUSALS
from tests.contract.shapes import ERROR, faults_in
from tests.fuzz.client import Answer
from tests.fuzz.inputs.requests import Case

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
