"""That Prism would notice."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from payments.providers import http
from tests.providers.prism.conftest import XENDIT
from tests.providers.prism.proxy import Prism, prism_before
from tests.support.http_server import Answered, answering

HEADERS = {"Authorization": "Basic bm9ib2R5Og==", "api-version": "2024-11-11"}
LOOKUP = "/transactions?limit=1"
NOTHING: dict[str, Any] = {"has_more": False, "data": [], "links": []}


@pytest.fixture(scope="module")
def prism() -> Iterator[Prism]:
    """Prism before a fake that answers as it is set to."""
    answer = lambda asked: Answered(200, json.loads(asked.headers["x-answer"]))  # noqa: E731
    with answering(answer) as fake, prism_before(fake.address, XENDIT) as prism:
        yield prism


def ask(prism: Prism, path: str, answer: Any) -> http.Reply:
    return http.send("GET", prism.url + path, {**HEADERS, "x-answer": json.dumps(answer)})


def test_what_is_as_described_gets_through(prism: Prism) -> None:
    reply = ask(prism, LOOKUP, NOTHING)
    assert (reply.status, json.loads(reply.content)) == (200, NOTHING)


def test_an_answer_that_is_not_as_described_is_noticed(prism: Prism) -> None:
    assert ask(prism, LOOKUP, NOTHING | {"has_more": "perhaps"}).status == 500
    assert prism.complaints()[-1] == ("/transactions", "VIOLATIONS")


@pytest.mark.parametrize(
    ("path", "fault"), [("/transactions?limit=some", "UNPROCESSABLE_ENTITY"), ("/before-v3", "NO_PATH_MATCHED_ERROR")]
)
def test_a_request_that_is_not_as_described_is_noticed(prism: Prism, path: str, fault: str) -> None:
    ask(prism, path, NOTHING)
    assert prism.complaints()[-1] == (path.partition("?")[0], fault)
