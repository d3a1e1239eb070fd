"""What `kaha` says without any service: help, amounts, keys, profiles, and what it refuses to begin with."""

import base64
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from kaha_cli.command import money
from kaha_cli.commands.trigger import FLOWS
from kaha_cli.feed import items_of
from kaha_cli.main import kaha
from kaha_cli.profiles import check_url
from kaha_cli.receiver import headers_of

from payments.api.validation.money_queries import PayoutListQuery
from payments.api.validation.query_fields import ChargeListQuery
from payments.api.validation.serializers import ChargeInput
from payments.api.validation.webhook_endpoints import EndpointChanges
from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.money import DECIMALS, KNOWN_CURRENCIES
from payments.webhooks.signatures import Signer
from tests.cli.terminal import Terminal

KEY = "sk_test_" + "0a" * 24
LIVE_KEY = "sk_live_" + "0a" * 24
FORMS = [
    ("charges", ChargeInput),
    ("charges", ChargeListQuery),
    ("payouts", PayoutListQuery),
    ("endpoints", EndpointChanges),
]
SECRET = f"whsec_{base64.b64encode(b'known to the test only').decode()}"


def commands(group: click.Group, *names: str) -> list[tuple[str, ...]]:
    """Return the names of every command, with those of its groups."""
    return [
        found
        for name, command in group.commands.items()
        for found in (commands(command, *names, name) if isinstance(command, click.Group) else [(*names, name)])
    ]


def test_each_choice_of_an_option_is_one_of_the_api() -> None:
    options = [
        (form().fields[option.name].choices, option.type.choices)
        for group, form in FORMS
        for command in kaha.commands[group].commands.values()
        for option in command.params
        if isinstance(option.type, click.Choice) and option.name in form().fields
    ]
    assert len(options) == 5
    assert all(list(of_api) == list(own) for of_api, own in options)


def test_every_command_is_there() -> None:
    assert {" ".join(names) for names in commands(kaha)} >= {
        *("listen", "trigger", "events tail", "logs tail", "login", "logout", "profiles"),
        *(f"charges {verb}" for verb in ("create", "list", "retrieve", "refund", "capture", "void")),
    }


@pytest.mark.long
@pytest.mark.parametrize("names", commands(kaha), ids=" ".join)
def test_the_help_of_each_command_has_an_example_of_it(names: tuple[str, ...], bare_terminal: Terminal) -> None:
    shown = bare_terminal.run(*names, "--help").succeeded()
    assert f"\n    kaha {' '.join(names)}" in re.sub(r"--profile \S+ ", "", shown)
    assert len(shown.partition("Usage")[2].strip().splitlines()[2]) > 20


def test_every_flow_that_the_service_names_is_there_and_each_is_named() -> None:
    assert {event_type.trigger.split()[0] for event_type in EVENT_TYPES.values()} == FLOWS.keys()


def test_amounts_are_written_with_the_currencys_decimals() -> None:
    decimals = {code: DECIMALS[code] for code in KNOWN_CURRENCIES}
    assert {code: len(money(10**8, code).partition(".")[2]) for code in decimals} == decimals


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("12.50", "For PHP 12.50 give 1250."),
        *(
            (text, "give 1250")
            for text in ("1,250", "1_250", "0", "0100", "+5", "1e3", "１２", " 5", "PHP 5", "9" * 5000)
        ),
    ],
)
def test_an_amount_that_is_no_whole_number_is_refused_with_the_one_to_give(
    text: str, advice: str, bare_terminal: Terminal
) -> None:
    done = bare_terminal.run("charges", "create", text, "--source", "src_1")
    assert done.code == 2
    assert advice in done.err


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        *(
            [KEY],
            ["--key", KEY],
            ["charges", "list", f"--source={KEY}"],
            ["login", "--url", f"https://{KEY}@a.example"],
        ),
        ["listen", "--secret-file", SECRET],
    ],
)
def test_a_key_on_the_command_line_is_refused_and_not_repeated(arguments: list[str], bare_terminal: Terminal) -> None:
    done = bare_terminal.run(*arguments)
    shown = done.out + done.err
    assert (done.code, KEY in shown, SECRET in shown) == (2, False, False)
    assert "KAHA_KEY" in done.err


@pytest.mark.long
@pytest.mark.parametrize("key", ["pk_test_" + "0a" * 24, "something", "sk_test_short"])
def test_what_is_no_secret_key_is_refused_and_not_repeated(key: str, bare_terminal: Terminal) -> None:
    done = bare_terminal.run("charges", "list", KAHA_KEY=key, KAHA_URL="http://127.0.0.1:1")
    assert (done.code, key in done.err) == (2, False)


@pytest.mark.long
def test_without_key_or_address_it_says_where_to_put_them(bare_terminal: Terminal) -> None:
    assert "KAHA_KEY" in bare_terminal.run("charges", "list").err
    assert "Set KAHA_URL" in bare_terminal.run("charges", "list", KAHA_KEY=KEY).err


@pytest.mark.long
@pytest.mark.parametrize(
    "url", ["ftp://a.example", "a.example", "https://", "https://u@a.example", "https://a.example:x"]
)
def test_an_address_that_is_none_is_refused(url: str, bare_terminal: Terminal) -> None:
    assert bare_terminal.run("charges", "list", KAHA_KEY=KEY, KAHA_URL=url).code == 2


def test_a_live_key_crosses_no_network_in_clear_text() -> None:
    with pytest.raises(click.ClickException, match="https"):
        check_url("http://pay.example.com", LIVE_KEY)
    assert check_url("http://127.0.0.1:8000/", LIVE_KEY) == "http://127.0.0.1:8000"
    assert check_url("http://kaha:8000", KEY) == "http://kaha:8000"


@pytest.mark.long
def test_a_service_that_is_not_there_ends_in_3(bare_terminal: Terminal) -> None:
    done = bare_terminal.run("charges", "list", KAHA_KEY=KEY, KAHA_URL="http://127.0.0.1:1")
    assert (done.code, done.out) == (3, "")
    assert "http://127.0.0.1:1 cannot be reached" in done.err


@pytest.mark.long
def test_a_profile_that_others_can_read_is_refused_with_the_command_that_mends_it(bare_terminal: Terminal) -> None:
    file = kept_profile(bare_terminal, url="http://127.0.0.1:1", key=KEY)
    for place, mode, right in ((file, 0o640, "600"), (file.parent, 0o755, "700")):
        place.chmod(mode)
        done = bare_terminal.run("charges", "list")
        assert (done.code, KEY in done.err) == (2, False)
        command = f"chmod {right} {place}"
        assert command in done.err
        place.chmod(int(right, 8))
    assert bare_terminal.run("charges", "list").code == 3


def test_a_damaged_profile_is_refused_without_a_line_of_it(bare_terminal: Terminal) -> None:
    kept_profile(bare_terminal, key=KEY).write_text(f"[default]\nkey = {KEY}")
    done = bare_terminal.run("charges", "list")
    assert (done.code, KEY in done.err) == (2, False)
    assert "not valid TOML" in done.err


def test_the_key_of_a_profile_is_sent_to_no_other_address(bare_terminal: Terminal) -> None:
    kept_profile(bare_terminal, url="http://127.0.0.1:1", key=KEY)
    done = bare_terminal.run("charges", "list", KAHA_URL="http://127.0.0.1:2")
    assert done.code == 2
    assert "Set KAHA_KEY too" in done.err


@pytest.mark.long
def test_a_profile_that_is_named_comes_before_the_environment(bare_terminal: Terminal) -> None:
    kept_profile(bare_terminal, url="http://127.0.0.1:1", key=KEY)
    done = bare_terminal.run("--profile", "default", "charges", "list", KAHA_KEY=KEY, KAHA_URL="http://127.0.0.1:2")
    assert "http://127.0.0.1:1 cannot be reached" in done.err
    assert "no profile other" in bare_terminal.run("--profile", "other", "charges", "list").err


@pytest.mark.long
def test_profiles_are_listed_and_removed_without_their_keys(bare_terminal: Terminal) -> None:
    kept_profile(bare_terminal, url="http://127.0.0.1:1", key=LIVE_KEY)
    assert bare_terminal.run("profiles").succeeded() == "default  live mode  http://127.0.0.1:1\n"
    bare_terminal.run("logout").succeeded()
    assert LIVE_KEY not in bare_terminal.profiles.read_text()
    assert bare_terminal.run("logout").code == 2


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        ("charges", "create", "100", "--source", "src_1"),
        ("charges", "refund", "ch_1"),
        ("charges", "capture", "ch_1", "--amount", "5"),
        ("charges", "void", "ch_1"),
    ],
)
def test_with_a_live_key_and_no_terminal_what_moves_money_needs_yes(
    command: tuple[str, ...], bare_terminal: Terminal
) -> None:
    variables = {"KAHA_KEY": LIVE_KEY, "KAHA_URL": "http://127.0.0.1:1"}
    refused = bare_terminal.run(*command, **variables)
    assert refused.code == 2
    assert "--yes" in refused.err
    assert bare_terminal.run(*command, "--yes", **variables).code == 3, "now it is sent"


@pytest.mark.long
def test_with_a_live_key_no_test_card_is_charged_and_no_event_triggered(bare_terminal: Terminal) -> None:
    variables = {"KAHA_KEY": LIVE_KEY, "KAHA_URL": "http://127.0.0.1:1"}
    card = ("charges", "create", "100", "--yes", "--card", "4242424242424242")
    assert [bare_terminal.run(*command, **variables).code for command in (card, ("trigger", "charge.failed"))] == [2, 2]


@pytest.mark.long
def test_at_a_terminal_a_live_key_asks_first(bare_terminal: Terminal) -> None:
    bare_terminal.variables |= {"KAHA_KEY": LIVE_KEY, "KAHA_URL": "http://127.0.0.1:1"}
    command, question = ["charges", "create", "125000", "--source", "src_1"], "charge PHP 1,250.00? [y/N]"
    assert bare_terminal.answer(command, [(question, "n")]).code == 2
    assert bare_terminal.answer(command, [(question, "y")]).code == 3, "now it is sent"


def test_an_event_is_signed_as_the_service_signs_it() -> None:
    body = '{"id":"evt_1","amount":"₱1"}'.encode()
    headers = headers_of(SECRET, "evt_1", body)
    sent = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    assert headers == Signer([SECRET], "X-Kaha").headers_of("evt_1", body, sent)


@pytest.mark.long
@pytest.mark.parametrize("secret", ["whsec_", "whsec_%", "secret"])
def test_a_secret_that_cannot_sign_is_refused(secret: str, bare_terminal: Terminal) -> None:
    variables = {"KAHA_KEY": KEY, "KAHA_URL": "http://127.0.0.1:1", "KAHA_WEBHOOK_SECRET": secret}
    done = bare_terminal.run("listen", "--forward-to", "http://127.0.0.1:2/", **variables)
    assert done.code == 2
    assert "whsec_ and base64" in done.err


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('{"object":"list","data":[]}', []),
        ('{"object":"list","data":[{"a":1.10,"b":"]"},{"a":1e2}],"next":"/v2"}', ['{"a":1.10,"b":"]"}', '{"a":1e2}']),
        ('{ "object": "list", "data": [ {"a": [1]} , {"b":"\\u00e9"} ] }', ['{"a": [1]}', '{"b":"\\u00e9"}']),
    ],
)
def test_the_objects_of_a_list_keep_their_bytes(text: str, items: list[str]) -> None:
    assert [item.text for item in items_of(text)] == items


@pytest.mark.parametrize("text", ["", "<html>", '{"object":"list","data":[{]}', '{"object":"list","data":[1'])
def test_what_is_no_list_is_not_taken_for_one(text: str) -> None:
    with pytest.raises(ValueError):
        items_of(text)


def kept_profile(terminal: Terminal, **members: Any) -> Path:
    """Write the default profile as `kaha login` does, and return its file."""
    terminal.profiles.parent.mkdir(parents=True)
    terminal.profiles.parent.chmod(0o700)
    terminal.profiles.write_text("[default]\n" + "".join(f'{name} = "{value}"\n' for name, value in members.items()))
    terminal.profiles.chmod(0o600)
    return terminal.profiles


@pytest.mark.long
def test_profiles_are_where_xdg_says(bare_terminal: Terminal, tmp_path: Path) -> None:
    kept_profile(bare_terminal, url="http://127.0.0.1:1", key=KEY)
    elsewhere = {"XDG_CONFIG_HOME": str(tmp_path / "elsewhere")}
    assert bare_terminal.run("charges", "list", **elsewhere).code == 2
    bare_terminal.profiles.parent.parent.rename(tmp_path / "elsewhere")
    assert bare_terminal.run("charges", "list", **elsewhere).code == 3


@pytest.mark.long
def test_where_no_profile_can_be_kept_it_says_what_to_set_instead(bare_terminal: Terminal) -> None:
    (bare_terminal.home / ".config").write_text("")
    for command in (("charges", "list"), ("logout",), ("profiles",), ("listen", "--forward-to", "http://localhost:1/")):
        done = bare_terminal.run(*command)
        assert "Traceback" not in done.err
    listening = bare_terminal.run(
        "listen", "--forward-to", "http://localhost:1/", KAHA_KEY=KEY, KAHA_URL="http://127.0.0.1:1"
    )
    assert (listening.code, "KAHA_WEBHOOK_SECRET" in listening.err) == (2, True)
