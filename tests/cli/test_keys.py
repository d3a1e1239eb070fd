"""What `kaha` says of a text that is no key, and to which address a key goes."""

import pytest
from kaha_cli.failures import Misuse
from kaha_cli.keys import KEY, check_key

from payments.domain.merchants.api_keys import FULL_KEY
from tests.cli.terminal import Terminal
from tests.cli.test_usage import kept_profile

RANDOM = "0a" * 24
KEPT, OTHER = f"sk_live_{RANDOM}", f"sk_test_{RANDOM}"
NOWHERE, ELSEWHERE = "http://127.0.0.1:1", "http://127.0.0.1:2"


@pytest.mark.parametrize(
    "key", [OTHER, KEPT, f"rk_test_{RANDOM}", f"sk_live_c1_{RANDOM}", f"sk_test_{RANDOM}0", f"sk_{RANDOM}", ""]
)
def test_a_key_has_the_form_that_the_service_gives_it(key: str) -> None:
    assert bool(KEY.fullmatch(key)) == bool(FULL_KEY.fullmatch(key))


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (OTHER[:-1], "it is cut short: 47 of 48 characters follow sk_test_"),
        ("sk_test_ab", "it is cut short: 2 of 48"),
        (f"sk_live_c1_{RANDOM[:20]}", "it is cut short: 20 of 48 characters follow sk_live_c1_"),
        (OTHER + OTHER, "Is it the key of another service?"),
        (OTHER + RANDOM, "Was it pasted twice?"),
        ("sk_test_51" + "Hx" * 40, "Is it the key of another service?"),
        ("xnd_development_" + "x" * 40, "Is it the key of another service?"),
        (f"'{OTHER}'", "quotation marks"),
        ("whsec_c2VjcmV0", "belongs into KAHA_WEBHOOK_SECRET"),
        (f"pk_test_{RANDOM}", "publishable"),
    ],
)
def test_what_is_no_secret_key_is_named_and_not_repeated(text: str, advice: str) -> None:
    with pytest.raises(Misuse) as raised:
        check_key(text)
    assert advice in raised.value.message
    assert text not in raised.value.message


@pytest.mark.long
@pytest.mark.parametrize("name", ["KAHA_KEY", "KAHA_URL", "KAHA_PROFILE", "KAHA_WEBHOOK_SECRET"])
def test_a_variable_that_is_set_and_empty_is_not_taken_for_none(name: str, bare_terminal: Terminal) -> None:
    kept_profile(bare_terminal, url=NOWHERE, key=KEPT)
    done = bare_terminal.run("listen", "--forward-to", ELSEWHERE, **{name: " \r\n"})
    assert (done.code, f"{name} is set, but empty. Is your variable set?" in done.err) == (2, True)


@pytest.mark.long
def test_an_empty_profile_is_not_taken_for_the_default_one(bare_terminal: Terminal) -> None:
    kept_profile(bare_terminal, url=NOWHERE, key=KEPT)
    assert "Is your variable set?" in bare_terminal.run("--profile", "", "balance").err


@pytest.mark.long
@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"KAHA_KEY": OTHER}, "KAHA_KEY is set without KAHA_URL"),
        ({"KAHA_URL": ELSEWHERE}, f"the key of the profile is for {NOWHERE}"),
    ],
)
def test_key_and_address_come_from_one_place(variables: dict[str, str], says: str, bare_terminal: Terminal) -> None:
    kept_profile(bare_terminal, url=NOWHERE, key=KEPT)
    done = bare_terminal.run("balance", **variables)
    assert (done.code, says in done.err) == (2, True)


def test_a_key_of_the_environment_is_not_tried_at_another_address(bare_terminal: Terminal) -> None:
    done = bare_terminal.run("login", "--url", ELSEWHERE, KAHA_KEY=OTHER, KAHA_URL=NOWHERE)
    assert (done.code, "KAHA_KEY is for KAHA_URL" in done.err) == (2, True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, NOWHERE),
        ({"KAHA_URL": f"{NOWHERE}/"}, NOWHERE),
        ({"KAHA_URL": ELSEWHERE, "KAHA_KEY": f"{OTHER}\r"}, ELSEWHERE),
        ({"KAHA_URL": ELSEWHERE, "KAHA_KEY": OTHER, "KAHA_PROFILE": "default"}, NOWHERE),
    ],
)
def test_a_key_goes_to_the_address_that_it_was_given_with(
    variables: dict[str, str], address: str, bare_terminal: Terminal
) -> None:
    kept_profile(bare_terminal, url=NOWHERE, key=KEPT)
    done = bare_terminal.run("balance", **variables)
    assert (done.code, f"{address} cannot be reached" in done.err) == (3, True)
