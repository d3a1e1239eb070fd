"""The exit code is that of the request, not of the output, and of a command that is stopped."""

import json
import re
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from kaha_cli.failures import Unshown
from kaha_cli.output import show, when_done

from tests.cli.conftest import Service
from tests.cli.terminal import Done, Terminal
from tests.commands.receivers import receiving

CASES = json.loads((Path(__file__).parents[1] / "cases" / "command-line.json").read_text())
KEY = "sk_test_" + "0a" * 24
DESCRIPTION = "₱500 🎉"
CREATE = "kaha charges create 4711 --card 4000000000003055"
NOWHERE_TO_WRITE = {"a full disk": "> /dev/full", "a closed pipe": "| true", "closed output": ">&-"}


def has_charge(done: Done, home: Path) -> bool:
    return done.code == 0 and json.loads((home / "charge.json").read_text())["description"] == DESCRIPTION


def has_lines(done: Done, home: Path) -> bool:
    return done.code == 0 and DESCRIPTION in (home / "charges.txt").read_text().splitlines()[0]


# What each of the cases expects.
EXPECTED: dict[str, Callable[[Done, Path], bool]] = {
    "exit status 0, the charge in charge.json": has_charge,
    "exit status 0, a line for each charge": has_lines,
    "a sentence that says what to install or unset; exit status 2 or 3": lambda done, _: (
        done.code == 2 and "httpx2[socks]" in done.err and "unset ALL_PROXY" in done.err
    ),
    "a sentence that names SSL_CERT_FILE; exit status 2": lambda done, _: (
        done.code == 2 and "SSL_CERT_FILE" in done.err
    ),
    "it works, or the message says that a carriage return is at the key's end": lambda done, _: done.code == 0,
}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["environment"]))
def test_cases_that_went_wrong_end_as_they_should(case: dict, terminal: Terminal, service: Service) -> None:
    if "before" in case:
        terminal.shell(f"{CREATE} --description '{DESCRIPTION}'").succeeded()
    environment = {
        name: value.replace("sk_test_…", service.keys["sk_test"]) for name, value in case["environment"].items()
    }
    done = terminal.shell(case["command"], **environment)
    assert EXPECTED[case["expected"]](done, terminal.home), (done.code, done.out, done.err)
    assert len(done.err.splitlines()) <= 1


def charge_ids(service: Service, description: str) -> list[str]:
    return [
        each["id"] for each in service.get("/charges/", limit=100).json()["data"] if each["description"] == description
    ]


@pytest.mark.long
@pytest.mark.parametrize("output", NOWHERE_TO_WRITE.values(), ids=NOWHERE_TO_WRITE)
@pytest.mark.parametrize("form", ["", "--json"])
def test_a_charge_whose_answer_cannot_be_written_is_made_and_ends_with_0(
    output: str, form: str, terminal: Terminal, service: Service
) -> None:
    name = f"To {output} {form}"
    done = terminal.shell(f"{CREATE} --description '{name}' {form} {output}")
    assert done.code == 0, done.err
    assert ("It is done, and must not be done again." in done.err) == (output != ">&-")
    assert len(done.err.splitlines()) <= 1
    [charge] = charge_ids(service, name)
    for verb in ("refund", "retrieve"):
        refunded = terminal.shell(f"kaha charges {verb} {charge} {form} {output}")
        assert refunded.code == (4 if (verb, output) == ("retrieve", "> /dev/full") else 0)
    assert service.get(f"/charges/{charge}").json()["status"] == "refunded"


@pytest.mark.long
@pytest.mark.parametrize("command", ["balance", "charges list", "payouts list", "events tail --last 5", "profiles"])
def test_a_full_disk_ends_a_command_that_reads_with_4_and_a_closed_pipe_with_0(
    command: str, terminal: Terminal
) -> None:
    terminal.run("login").succeeded()
    full = terminal.shell(f"kaha {command} > /dev/full")
    assert (full.code, "could not be written" in full.err) == (4 if full.err else 0, bool(full.err))
    assert terminal.shell(f"kaha {command} --help > /dev/full").code == 4
    assert terminal.shell(f"kaha {command} --help | true").code == 0
    if "tail" not in command:
        assert terminal.shell(f"kaha {command} | true").err == ""


@pytest.mark.long
def test_a_profile_is_kept_and_removed_though_nobody_can_be_informed(terminal: Terminal) -> None:
    for command, is_kept in (("login", True), ("logout", False)):
        assert terminal.shell(f"kaha {command} > /dev/full 2>&1").code == 0
        assert ("[default]" in terminal.profiles.read_text()) == is_kept


@pytest.mark.long
@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_nothing(closed: str, bare_terminal: Terminal) -> None:
    variables = {"KAHA_KEY": KEY.replace("test", "live"), "KAHA_URL": "http://127.0.0.1:1"}
    assert bare_terminal.shell(f"kaha charges create 5 --source src_1 {closed}", **variables).code == 2


@pytest.mark.long
def test_a_command_that_is_stopped_before_the_answer_names_the_key_to_repeat_it_with(bare_terminal: Terminal) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        bare_terminal.variables |= {"KAHA_KEY": KEY, "KAHA_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        running = bare_terminal.start("charges", "create", "5", "--source", "src_1")
        with silent.accept()[0] as connection:
            sent = connection.recv(65536).decode()
            done = running.interrupt()
    [key] = re.findall("(?i)idempotency-key: (.*?)\r", sent)
    assert (done.code, f"--idempotency-key {key}" in done.err) == (3, True)


@pytest.mark.long
def test_ctrl_c_at_a_prompt_is_130_for_nothing_was_sent(bare_terminal: Terminal) -> None:
    assert bare_terminal.answer(["login"], [("address", "\x03")]).code == 130


@pytest.mark.long
def test_what_answers_and_is_not_kaha_is_no_answer_and_the_key_to_repeat_it_with_is_named(
    bare_terminal: Terminal,
) -> None:
    with receiving(lambda headers, body: 200) as other:
        bare_terminal.variables |= {"KAHA_KEY": KEY, "KAHA_URL": other.url}
        done = bare_terminal.run("charges", "create", "5", "--source", "src_1")
    assert (done.code, "is not kaha" in done.err, "--idempotency-key kaha-cli-" in done.err) == (3, True, True)


@pytest.mark.parametrize("body", ["[]", "{}", '{"amount": null}'])
def test_an_answer_in_another_form_is_said_and_after_a_change_no_failure(body: str) -> None:
    with pytest.raises(Unshown, match="another form than this version"):
        show(httpx2.Response(200, text=body), False, lambda charge: [charge["amount"].upper()])
    with when_done():
        show(httpx2.Response(200, text=body), False, lambda charge: [charge["amount"].upper()])
