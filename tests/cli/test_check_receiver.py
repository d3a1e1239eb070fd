"""`kaha check-receiver` against receivers that are correct, faulty, or not there."""

import asyncio
import json
from collections.abc import Callable, Mapping

import pytest
from kaha_cli.commands.receiver_check import UNKNOWN_TYPE, calls_of
from kaha_cli.receiver import Outcome, send

from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.models import Event
from tests.cli.terminal import Terminal
from tests.client import Api
from tests.commands.receivers import Judge, receiving, verifies, verifies_plainly
from tests.webhooks.transport.receivers import BELIEVED, receiver, then_close

SECRET = "whsec_" + "c2VjcmV0" * 4
TO_TAKE = [call.name for call in calls_of(SECRET) if call.to_take]
TO_REFUSE = [call.name for call in calls_of(SECRET) if not call.to_take]


def knows_types(headers: Mapping[str, str], body: bytes) -> int:
    """Verify, and fail at a type that is not known."""
    return 500 if json.loads(body)["type"] == UNKNOWN_TYPE else verifies(SECRET)(headers, body)


@pytest.mark.long
@pytest.mark.parametrize(
    ("judge", "wrong"),
    [
        (verifies(SECRET), []),
        (verifies_plainly(SECRET), []),
        (knows_types, ["an event of an unknown type"]),
        (lambda headers, body: 200, TO_REFUSE),
        (lambda headers, body: 401, TO_TAKE),
        (lambda headers, body: 302, [*TO_TAKE, *TO_REFUSE]),
    ],
    ids=["correct", "correct by the plain header", "of known types", "takes all", "refuses all", "redirects"],
)
def test_what_a_receiver_handles_wrongly_is_listed_and_ends_in_1(
    judge: Judge, wrong: list[str], bare_terminal: Terminal
) -> None:
    with receiving(judge) as receiver:
        done = bare_terminal.run("check-receiver", receiver.url, KAHA_WEBHOOK_SECRET=SECRET)
    listed = [line.partition("  ")[0] for line in done.out.splitlines() if "WRONG: it must be" in line]
    assert (sorted(listed), done.code) == (sorted(wrong), 1 if wrong else 0)
    assert f"{8 - len(wrong)} of 8 handled properly." in done.out
    assert len(receiver.events) == 8


@pytest.mark.long
def test_a_receiver_that_is_not_there_handles_nothing(bare_terminal: Terminal) -> None:
    with receiving(lambda headers, body: 200) as receiver:
        url = receiver.url
    done = bare_terminal.run("check-receiver", url)
    assert (done.code, "0 of 8" in done.out, "is the receiver running?" in done.out) == (1, True, True)


@pytest.mark.parametrize("answer", BELIEVED.values(), ids=BELIEVED.keys())
def test_a_status_is_believed_whatever_follows_it(answer: bytes) -> None:
    async def sent() -> Outcome:
        async with receiver(then_close(answer)) as shop:
            return await asyncio.to_thread(send, shop.url, b"{}", {})

    assert asyncio.run(sent()).status == 200


@pytest.mark.parametrize("part", [lambda event: event, lambda event: event["data"]["object"]])
@pytest.mark.django_db
def test_its_events_look_like_real_ones(part: Callable[[dict], dict], api: Api) -> None:
    api.charge(metadata={"order": 7})
    real = json.loads(bytes(Event.objects.get(type="charge.succeeded").payload))
    for sent in [json.loads(call.body) for call in calls_of(SECRET)]:
        assert (part(sent).keys(), part(sent)["livemode"]) == (part(real).keys(), False)
        source, real_source = sent["data"]["object"]["source"], real["data"]["object"]["source"]
        assert (source.keys(), source["card"].keys()) == (real_source.keys(), real_source["card"].keys())


def test_a_type_that_is_not_known_is_none_of_kaha() -> None:
    assert UNKNOWN_TYPE not in EVENT_TYPES
