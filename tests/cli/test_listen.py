"""`kaha listen` against a running kaha, with receivers that verify, sleep, or are not there."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from payments.embedded.processes import wait_until
from tests.cli.conftest import Service
from tests.cli.terminal import Running, Terminal
from tests.commands.receivers import Judge, receiving, verifies, verifies_plainly
from tests.guides.receiver import receiver_of_the_guide
from tests.quickstart.quickstart_process import ENVIRONMENT, MANAGE
from tests.support.processes import running
from tests.support.relay import relay_process

pytestmark = pytest.mark.long

SECRET = "whsec_a25vd24gdG8gdGhlIHRlc3Qgb25seQ=="  # pragma: allowlist secret
Listen = Callable[..., Running]


@pytest.fixture
def listen(terminal: Terminal) -> Listen:
    """Return a function that starts to listen for a receiver's URL, and returns when it does."""

    def start(url: str, *options: str) -> Running:
        running = terminal.start("listen", "--forward-to", url, *options)
        running.read_until("Ctrl-C ends it")
        return running

    return start


def answers(status: int, seconds: float = 0) -> Judge:
    """Return a judge that gives every event the same status, after a while."""

    def judge(headers: Mapping[str, str], body: bytes) -> int:
        time.sleep(seconds)
        return status

    return judge


def trigger(terminal: Terminal, event_type: str) -> str:
    """Make an event happen; return its ID."""
    return terminal.run("trigger", event_type).succeeded().split()[0]


@pytest.mark.parametrize("judge", [verifies, verifies_plainly])
def test_events_arrive_signed_with_the_bytes_of_the_service(
    judge: Callable[[str], Judge], terminal: Terminal, listen: Listen, service: Service
) -> None:
    bodies: list[bytes] = []

    def keep(headers: Mapping[str, str], body: bytes) -> int:
        bodies.append(body)
        assert headers["Content-Type"] == "application/json"
        return judge(SECRET)(headers, body)

    with receiving(keep) as receiver:
        terminal.variables["KAHA_WEBHOOK_SECRET"] = f"{SECRET}\r"
        listening = listen(receiver.url)
        last = trigger(terminal, "charge.captured")
        listening.read_until(last)
    found = re.findall(r"^\d\d:\d\d:\d\d  (\S+) +(evt_[0-9a-f]{32})  (.+)$", listening.output, re.M)
    assert sorted(kind for kind, _, _ in found) == [
        *("charge.captured", "charge.created", "charge.succeeded", "source.created", "source.updated"),
    ]
    assert all(outcome.startswith("200  ") for _, _, outcome in found)
    assert bodies == [service.get(f"/events/{event_id}").content for _, event_id, _ in found]


def test_ctrl_c_ends_it_with_0(listen: Listen) -> None:
    done = listen("http://127.0.0.1:1/").interrupt()
    assert (done.code, done.err.splitlines()[-1]) == (0, "Stopped.")


def test_the_secret_stays_the_same_and_is_kept_for_its_owner_only(listen: Listen, terminal: Terminal) -> None:
    first, second = (listen("http://127.0.0.1:1/").interrupt().out.splitlines()[0] for _ in range(2))
    assert first == second
    assert terminal.profiles.stat().st_mode & 0o777 == 0o600
    terminal.variables["KAHA_WEBHOOK_SECRET"] = SECRET
    assert SECRET in listen("http://127.0.0.1:1/").interrupt().out
    assert SECRET not in terminal.profiles.read_text()


def test_only_the_events_that_were_asked_for_are_sent(listen: Listen, terminal: Terminal) -> None:
    with receiving(answers(204)) as receiver:
        listening = listen(receiver.url, "--events", "charge.failed,refund.*")
        ids = [trigger(terminal, kind) for kind in ("charge.failed", "charge.succeeded", "refund.created")]
        listening.read_until(ids[2])
    assert [event["id"] for event in receiver.events] == [ids[0], ids[2]]


def test_a_receiver_that_is_not_there_or_fails_is_said_and_the_next_event_follows(
    listen: Listen, terminal: Terminal
) -> None:
    with receiving(answers(500)) as receiver:
        port = receiver.url
    listening = listen(port, "--events", "customer.created")
    down = trigger(terminal, "customer.created")
    listening.read_until(f"{down}  no connection: is the receiver running")
    assert listening.program.is_running


def test_a_receiver_that_fails_gets_the_next_event_all_the_same(listen: Listen, terminal: Terminal) -> None:
    with receiving(answers(500)) as receiver:
        listening = listen(receiver.url, "--events", "customer.*")
        for kind in ("customer.created", "customer.updated"):
            listening.read_until(f"{trigger(terminal, kind)}  500  \\d+ ms  kaha would retry")
    assert len(receiver.events) == 3, "one for each event, because an answer is not asked for again"


def test_a_receiver_has_ten_seconds(listen: Listen, terminal: Terminal) -> None:
    with receiving(answers(200, seconds=12)) as receiver:
        listening = listen(receiver.url, "--events", "customer.created")
        listening.read_until(f"{trigger(terminal, 'customer.created')}  no answer within 10 s")


def test_while_the_service_is_away_it_says_so_once_and_no_event_is_lost_or_sent_twice(
    listen: Listen, terminal: Terminal, service: Service
) -> None:
    direct = terminal.variables["KAHA_URL"]
    with relay_process(int(service.url.rpartition(":")[2])) as relay, receiving(answers(200)) as receiver:
        terminal.variables["KAHA_URL"] = f"http://127.0.0.1:{relay.port}"
        listening = listen(receiver.url, "--events", "customer.created")
        terminal.variables["KAHA_URL"] = direct
        ids = [trigger(terminal, "customer.created")]
        listening.read_until(ids[0])
        relay.cut()
        listening.read_until("cannot be reached")
        ids += [trigger(terminal, "customer.created") for _ in range(3)]
        # It asks a few times in vain.
        time.sleep(4)
        relay.restore()
        listening.read_until(ids[3])
        assert listening.program.errors.count("nothing is lost") == 1
        assert listening.program.errors.count("kaha answers again") == 1
    assert [event["id"] for event in receiver.events] == ids


def test_a_key_that_is_refused_ends_it(terminal: Terminal) -> None:
    done = terminal.run("listen", "--forward-to", "http://127.0.0.1:1/", KAHA_KEY="sk_test_" + "0" * 48)
    assert (done.code, "key_invalid" in done.err) == (1, True)


def test_the_first_event_ever_arrives(listen: Listen, terminal: Terminal, service: Service) -> None:
    terminal.variables["KAHA_KEY"] = service.new_merchant_key()
    with receiving(answers(200)) as receiver:
        listening = listen(receiver.url)
        listening.read_until(trigger(terminal, "customer.created"))
    assert [event["type"] for event in receiver.events] == ["customer.created"]


def test_more_events_than_a_page_arrive_in_order(listen: Listen, terminal: Terminal, service: Service) -> None:
    terminal.variables |= {"KAHA_KEY": service.new_merchant_key()}
    direct = terminal.variables["KAHA_URL"]
    with relay_process(int(service.url.rpartition(":")[2])) as relay, receiving(answers(200)) as receiver:
        trigger(terminal, "customer.created")
        terminal.variables["KAHA_URL"] = f"http://127.0.0.1:{relay.port}"
        listening = listen(receiver.url)
        relay.cut()
        terminal.variables["KAHA_URL"] = direct
        for _ in range(21):
            last = trigger(terminal, "charge.captured")
        relay.restore()
        listening.read_until(last)
    ids = [event["id"] for event in receiver.events]
    assert len(ids) == 105
    assert ids == sorted(set(ids))


# Writes an event in a transaction that ends three seconds later, and prints its ID first.
LATE_EVENT = """
import json, time
from django.db import connection, transaction
from payments import clock, ids
from payments.models import Event
newest = Event.objects.filter(type="customer.created", livemode=False).order_by("-id").first()
late = Event(merchant_id=newest.merchant_id, livemode=False, type=newest.type, sequence=1, created_at=clock.now())
late.object_id = type(newest)().id
members = json.loads(bytes(newest.payload)) | {"id": ids.public_id("evt", late.id)}
late.payload = json.dumps(members).encode()
with transaction.atomic():
    late.save(force_insert=True)
    print(members["id"], flush=True)
    time.sleep(3)
"""


def test_an_event_that_is_committed_after_a_later_one_arrives_before_it(
    listen: Listen, terminal: Terminal, service: Service, tmp_path: Path
) -> None:
    trigger(terminal, "customer.created")
    with receiving(answers(200)) as receiver:
        listening = listen(receiver.url, "--events", "customer.created")
        environment = {**ENVIRONMENT, "KAHA_DATA": str(service.data)}
        command = [*MANAGE, "shell", "--no-imports", "-c", LATE_EVENT]
        with running(command, log=tmp_path / "log", ready=r"evt_\w+\n", environment=environment) as writer:
            [late] = re.findall(r"evt_\w+", writer.output)
            later = trigger(terminal, "customer.created")
            listening.read_until(late)
            listening.read_until(later)
    assert [event["id"] for event in receiver.events] == [late, later]
    assert late < later


@pytest.fixture
def guides_receiver(tmp_path: Path) -> Iterator[str]:
    """Run the guide's receiver in Python as it is shown; return its URL. It writes to `output`."""
    with receiver_of_the_guide(tmp_path, SECRET) as port:
        yield f"http://127.0.0.1:{port}/"


def test_the_guides_receiver_takes_what_is_forwarded(
    guides_receiver: str, listen: Listen, terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    listening = listen(guides_receiver, "--secret-file", str(tmp_path / "secret"), "--events", "charge.*,refund.*")
    for kind, prefix in (("charge.failed", "ch_"), ("refund.created", "re_")):
        listening.read_until(f"{trigger(terminal, kind)}  204  ")
        assert wait_until(lambda line=f"{kind} {prefix}": line in (tmp_path / "output").read_text(), 10)


def test_with_another_secret_the_guides_receiver_refuses(
    guides_receiver: str, listen: Listen, terminal: Terminal
) -> None:
    listening = listen(guides_receiver, "--events", "charge.failed")
    listening.read_until(f"{trigger(terminal, 'charge.failed')}  401  ")


def test_events_are_printed_as_they_happen(terminal: Terminal, service: Service) -> None:
    before = trigger(terminal, "customer.created")
    tail = terminal.start("events", "tail", "--last", "1", "--type", "customer.*", "--json")
    tail.read_until(before)
    after = trigger(terminal, "customer.deleted")
    tail.read_until(after)
    done = tail.interrupt()
    assert done.code == 0
    assert [json.loads(line)["type"] for line in done.out.splitlines()] == [
        *("customer.created", "customer.created", "customer.deleted"),
    ]
    assert done.out.splitlines()[2] == service.get(f"/events/{after}").text


def test_requests_are_printed_as_they_are_made(terminal: Terminal) -> None:
    tail = terminal.start("logs", "tail", "--status", "4xx")
    tail.read_until("Waiting for what comes next")
    trigger(terminal, "source.created")
    refused = re.search(r"req_[0-9a-f]{32}", terminal.run("charges", "retrieve", "ch_1").err)
    assert refused
    tail.read_until(refused[0])
    done = tail.interrupt()
    assert done.code == 0
    assert re.findall(r"^\d\d:\d\d:\d\d  GET +/v2/charges/ch_1/? +404  req_", done.out, re.M)
    assert "POST" not in done.out


def test_requests_are_printed_as_the_service_sends_them(terminal: Terminal) -> None:
    tail = terminal.start("logs", "tail", "--json")
    tail.read_until("Waiting for what comes next")
    trigger(terminal, "source.created")
    tail.read_until('"POST"')
    made = [json.loads(line) for line in tail.interrupt().out.splitlines()]
    [request] = [each for each in made if each["method"] == "POST"]
    assert not [each for each in made if each["path"].startswith("/v2/requests")]
    assert (request["object"], request["path"].rstrip("/"), request["status"]) == ("request", "/v2/sources", 200)
