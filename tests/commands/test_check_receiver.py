import io
import json
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from payments.domain.merchants.merchants import NewMerchant, roll_webhook_secret
from payments.models import Event
from tests.client import Api
from tests.commands.conftest import Manage
from tests.commands.receivers import Judge, receiving, verifies, verifies_plainly

SECRET = "whsec_" + "c2VjcmV0" * 4


@pytest.fixture(autouse=True)
def _files_end_with_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def held(secret: str) -> str:
    """Return the path of a file with the secret."""
    with tempfile.NamedTemporaryFile("w", suffix=".secret", delete=False) as file:
        file.write(f"{secret}\n")
    return file.name


def refusing(repeated: Callable[[dict], object]) -> Judge:
    """Return a judge that is correct except that it refuses repeats, by the value of `repeated`."""
    seen = []

    def judge(headers: Mapping[str, str], body: bytes) -> int:
        status, name = verifies(SECRET)(headers, body), repeated(json.loads(body))
        again = name in seen
        seen.append(name)
        return 409 if again else status

    return judge


@pytest.mark.parametrize("sound", [verifies, verifies_plainly])
def test_a_correct_receiver_passes(manage: Manage, sound: Callable[[str], Judge]) -> None:
    with receiving(sound(SECRET)) as receiver:
        output = manage("check_receiver", receiver.url, "--secret-file", held(SECRET))
    assert output.count("  proper\n") == 6
    assert "6 of 6 handled properly, the slowest in " in output
    assert SECRET not in output


def test_the_receiver_gets_a_valid_event_a_duplicate_two_out_of_order_a_forged_and_an_old_one(manage: Manage) -> None:
    with receiving(verifies(SECRET)) as receiver:
        manage("check_receiver", receiver.url, "--secret-file", held(SECRET))
    ids = [event["id"] for event in receiver.events]
    objects = [event["data"]["object"]["id"] for event in receiver.events]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 5
    assert objects[2] == objects[3]
    assert [event["sequence"] for event in receiver.events] == [1, 1, 2, 1, 1, 1]


def test_events_are_marked_as_tests_and_look_like_real_ones(manage: Manage, api: Api) -> None:
    with receiving(verifies(SECRET)) as receiver:
        manage("check_receiver", receiver.url, "--secret-file", held(SECRET))
    api.charge(metadata={"order": 7})
    real = json.loads(bytes(Event.objects.get(type="charge.succeeded").payload))
    for event in receiver.events:
        sent = event["data"]["object"]
        assert (event["livemode"], sent["livemode"], sent["source"]["livemode"]) == (False, False, False)
        assert sent["metadata"] == {"sent_by": "check_receiver"}
        assert event.keys() == real.keys()
        assert sent.keys() >= real["data"]["object"].keys()
        assert sent["source"].keys() >= real["data"]["object"]["source"].keys()
        assert sent["source"]["card"].keys() >= real["data"]["object"]["source"]["card"].keys()


def test_nothing_is_stored(manage: Manage, shop: NewMerchant) -> None:
    with receiving(verifies(shop.webhook_secrets["whsec_test"])) as receiver:
        manage("check_receiver", receiver.url)
    assert not Event.objects.exists()


@pytest.mark.parametrize(
    ("judge", "proper", "wrong"),
    [
        (lambda headers, body: 200, 4, ["a forged event", "an old event"]),
        (lambda headers, body: 401, 2, ["a valid event", "the same event", "an event of another", "the first event"]),
        (refusing(lambda event: event["id"]), 5, ["the same event again"]),
        (refusing(lambda event: event["data"]["object"]["id"]), 4, ["the same event again", "the first event"]),
        (lambda headers, body: 302, 2, ["a valid event", "the same event", "an event of another", "the first event"]),
    ],
    ids=["takes everything", "refuses everything", "refuses repeats", "refuses late ones", "redirects"],
)
def test_a_faulty_receiver_gets_its_faults_listed(judge: Judge, proper: int, wrong: list[str]) -> None:
    output = io.StringIO()
    with receiving(judge) as receiver, pytest.raises(CommandError, match=rf"^{proper} of 6 handled properly"):
        call_command("check_receiver", receiver.url, "--secret-file", held(SECRET), stdout=output)
    lines = [line for line in output.getvalue().splitlines() if "WRONG: it must be" in line]
    assert len(lines) == len(wrong)
    assert all(line.startswith(name) for line, name in zip(lines, wrong, strict=True))
    assert all(line.endswith("(said·)") for line in lines)


def test_an_unreachable_receiver_handles_nothing(manage: Manage) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        with pytest.raises(CommandError, match=r"^0 of 6"):
            manage("check_receiver", url, "--secret-file", held(SECRET))


@pytest.mark.parametrize("which", ["old", "new"])
def test_while_a_secret_is_rolled_either_verifies(manage: Manage, shop: NewMerchant, which: str) -> None:
    new = roll_webhook_secret(shop.merchant, False, timedelta(hours=24))
    secret = {"old": shop.webhook_secrets["whsec_test"], "new": new}[which]
    with receiving(verifies(secret)) as receiver:
        assert "6 of 6" in manage("check_receiver", receiver.url, "--merchant", "Sari Store")


def test_a_secret_is_read_from_standard_input(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{SECRET}\n"))
    with receiving(verifies(SECRET)) as receiver:
        assert "6 of 6" in manage("check_receiver", receiver.url, "--secret-file", "-")


def test_one_of_several_merchants_must_be_named(manage: Manage, shop: NewMerchant, other_shop: NewMerchant) -> None:
    with pytest.raises(CommandError, match="Say whose secret signs"):
        manage("check_receiver", "http://127.0.0.1:8099/")


@pytest.mark.parametrize("secret", ["c2VjcmV0c2VjcmV0", "whsec_", "whsec_c2V*jcmV0", "whsec_abc"])
def test_a_secret_that_is_none_is_refused_without_repeating_it(manage: Manage, secret: str) -> None:
    with pytest.raises(CommandError, match=r"^A secret is whsec_ and base64\.$"):
        manage("check_receiver", "http://127.0.0.1:8099/", "--secret-file", held(secret))


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["http://user@shop.example/"], "user information is not allowed"),
        (["ftp://shop.example/"], "must be https or http"),
        (["http://127.0.0.1:8099/", "--mode", "live"], "https:// only"),
    ],
)
def test_a_url_that_kaha_would_not_call_is_refused(manage: Manage, arguments: list[str], fault: str) -> None:
    with pytest.raises(CommandError, match=f"kaha would not call this URL.*{fault}"):
        manage("check_receiver", *arguments, "--secret-file", held(SECRET))
