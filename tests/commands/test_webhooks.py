import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, reveal_webhook_secret
from payments.domain.webhooks.resend import AT_ONCE
from payments.ids import public_id
from payments.models import Event, Webhook, WebhookAttempt, WebhookSecret
from tests.client import Api
from tests.commands.conftest import Manage

URL = "https://sari.example/kaha"
REDIRECT = {"success": "https://sari.example/yes", "fail": "https://sari.example/no", "notify": URL}
State = Webhook.State
OVER = {"due_at": None}


@pytest.fixture
def sent(api: Api) -> list[Webhook]:
    """Return the webhooks of a charge: `charge.created` and `charge.succeeded`."""
    api.charge_source(api.source(redirect=REDIRECT))
    return list(Webhook.objects.order_by("id"))


def name_of(webhook: Webhook) -> str:
    return public_id("evt", webhook.event_id)


def listed(output: str) -> list[str]:
    return re.findall(r"^evt_[0-9a-f]{32}", output, re.MULTILINE)


def set_state(webhook: Webhook, state: str, **values: object) -> None:
    Webhook.objects.filter(id=webhook.id).update(state=state, **(OVER | values))


def add_try(webhook: Webhook, number: int, **values: object) -> None:
    WebhookAttempt.objects.create(
        webhook=webhook,
        merchant=webhook.merchant,
        number=number,
        started_at=datetime(2026, 11, 21, 10, number, tzinfo=UTC),
        milliseconds=42,
        **values,
    )


def test_list_shows_the_newest_first_with_type_state_and_url(manage: Manage, sent: list[Webhook]) -> None:
    set_state(sent[0], State.DELIVERED, tries=3)
    output = manage("webhooks", "list")
    assert listed(output) == [name_of(sent[1]), name_of(sent[0])]
    assert re.search(r"charge\.created +test +delivered +3 +2\S+Z +- +https://sari\.example/kaha", output)
    assert re.search(r"charge\.succeeded +test +waiting +0 +2\S+Z +2\S+Z +https://sari\.example/kaha", output)
    assert output.endswith("2 shown of 2.\n")


def test_list_shows_no_more_than_its_limit_and_says_so(manage: Manage, sent: list[Webhook]) -> None:
    output = manage("webhooks", "list", "--limit", "1")
    assert listed(output) == [name_of(sent[1])]
    assert output.endswith("1 shown of 2.\n")


@pytest.mark.parametrize("limit", ["0", "1001", "-1", "x", "²"])
def test_a_limit_out_of_bounds_is_refused(manage: Manage, limit: str) -> None:
    with pytest.raises(CommandError, match=r"is (no number from 1 to 1000|not a whole number in digits alone)"):
        manage("webhooks", "list", f"--limit={limit}")


def test_list_without_any_says_so(manage: Manage) -> None:
    assert manage("webhooks", "list").endswith("0 shown of 0.\n")


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--merchant", "Sari Store"], 2),
        (["--merchant", "Other Store"], 0),
        (["--mode", "test"], 2),
        (["--mode", "live"], 0),
        (["--state", "exhausted"], 1),
        (["--state", "gone"], 0),
        (["--type", "charge.succeeded"], 1),
        (["--since", "1h"], 2),
        (["--until", "1h"], 0),
        (["--since", "2020-01-01", "--until", "2020-01-02T10:30Z"], 0),
        (["--since", "2020-01-01T10:30", "--state", "waiting", "--type", "charge.created"], 0),
    ],
)
def test_filters_leave_what_they_name(
    manage: Manage, sent: list[Webhook], other_shop: NewMerchant, options: list[str], found: int
) -> None:
    set_state(sent[0], State.EXHAUSTED)
    assert len(listed(manage("webhooks", "list", *options))) == found


def test_since_is_within_and_until_is_not(manage: Manage, sent: list[Webhook]) -> None:
    moment = sent[1].created_at.isoformat()
    assert listed(manage("webhooks", "list", "--since", moment)) == [name_of(sent[1])]
    assert listed(manage("webhooks", "list", "--until", moment)) == [name_of(sent[0])]


@pytest.mark.parametrize("text", ["yesterday", "24", "2026-13-01", "1.5h", ""])
def test_a_time_that_cannot_be_read_is_refused(manage: Manage, text: str) -> None:
    with pytest.raises(CommandError, match="is no time such as 2026-11-21"):
        manage("webhooks", "list", f"--since={text}")


def test_show_prints_the_facts_and_the_tries_newest_first(manage: Manage, sent: list[Webhook]) -> None:
    set_state(sent[0], State.DELIVERED, tries=2)
    add_try(sent[0], 1, error="connect_timeout", reason="10.0.0.1 does not answer")
    add_try(sent[0], 2, status=204, answer=b"thank  you\n")
    output = manage("webhooks", "show", name_of(sent[0]))
    assert f"{public_id('ch', Event.objects.get(id=sent[0].event_id).object_id)}, its event 1" in output
    assert "Sari Store" in output
    tries = output[output.index("TRY") :].splitlines()[1:]
    assert tries == [
        "2    2026-11-21T10:02:00Z  42 ms  204              thank you",
        "1    2026-11-21T10:01:00Z  42 ms  connect_timeout  10.0.0.1 does not answer",
    ]


def test_show_escapes_a_receivers_answer(manage: Manage, sent: list[Webhook]) -> None:
    add_try(sent[0], 1, status=500, answer=b"\x1b[2J\x07\xff 4242424242424242 whsec_c2VjcmV0c2VjcmV0")
    output = manage("webhooks", "show", name_of(sent[0]))
    assert not re.search(r"[^\n -~·�]", output)
    assert "4242424242424242" not in output
    assert "c2VjcmV0" not in output


@pytest.mark.parametrize("verb", ["show", "resend"])
@pytest.mark.parametrize("text", ["evt_1", "ch_" + "0" * 32, "evt_" + "0" * 32])
def test_an_id_that_names_no_webhook_is_one_clear_line(manage: Manage, verb: str, text: str) -> None:
    with pytest.raises(CommandError) as refusal:
        manage("webhooks", verb, text)
    assert text in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_resend_by_id_makes_it_due_at_the_start_of_the_schedule(manage: Manage, sent: list[Webhook]) -> None:
    set_state(sent[0], State.EXHAUSTED, tries=14, failures=14, first_try_at=clock.now() - timedelta(days=3))
    assert manage("webhooks", "resend", name_of(sent[0])) == "1 of 1 will be sent again now.\n"
    again = Webhook.objects.get(id=sent[0].id)
    assert (again.state, again.tries, again.failures, again.first_try_at) == (State.WAITING, 14, 0, None)
    assert again.due_at <= clock.now()


def test_resend_by_filters_counts_first_and_asks_for_a_yes(manage: Manage, sent: list[Webhook]) -> None:
    set_state(sent[0], State.EXHAUSTED)
    output = manage("webhooks", "resend", "--state", "exhausted")
    assert output == "1 would be sent again. Say so with --yes.\n"
    assert Webhook.objects.get(id=sent[0].id).state == State.EXHAUSTED


def test_resend_by_filters_sends_those_alone(manage: Manage, sent: list[Webhook]) -> None:
    set_state(sent[0], State.GONE)
    set_state(sent[1], State.DELIVERED)
    assert "1 of 1" in manage("webhooks", "resend", "--state", "gone", "--yes")
    assert list(Webhook.objects.order_by("id").values_list("state", flat=True)) == ["waiting", "delivered"]


def test_resend_skips_one_that_a_worker_has_claimed(manage: Manage, sent: list[Webhook]) -> None:
    lease = clock.now() + timedelta(seconds=30)
    Webhook.objects.filter(id=sent[0].id).update(leased_until=lease, failures=2)
    output = manage("webhooks", "resend", *map(name_of, sent))
    assert output == "1 of 2 will be sent again now.\nThe others are being sent at this moment.\n"
    held = Webhook.objects.get(id=sent[0].id)
    assert (held.leased_until, held.failures) == (lease, 2)


@pytest.mark.long
def test_more_than_go_in_one_part_are_sent_again(manage: Manage, shop: NewMerchant) -> None:
    common = {"merchant": shop.merchant, "livemode": False}
    events = [
        Event(type="charge.updated", object_id=shop.merchant.id, sequence=number, payload=b"{}", **common)
        for number in range(AT_ONCE + 1)
    ]
    Event.objects.bulk_create(events)
    Webhook.objects.bulk_create(
        Webhook(id=event.id, event=event, url=URL, receiver="x", state=State.EXHAUSTED, due_at=None, **common)
        for event in events
    )
    assert "1001 of 1001" in manage("webhooks", "resend", "--state", "exhausted", "--yes")
    assert not Webhook.objects.exclude(state=State.WAITING).exists()


@pytest.mark.parametrize("arguments", [[], ["--yes"], ["evt_" + "0" * 32, "--state", "gone"]])
def test_resend_wants_either_ids_or_filters(manage: Manage, arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="by their IDs, or pick them by filters"):
        manage("webhooks", "resend", *arguments)


SECRET = re.compile(r"^whsec_(test|live) +(whsec_\S+)$", re.MULTILINE)


def test_the_new_secrets_of_both_modes_are_shown_once(manage: Manage, shop: NewMerchant) -> None:
    output = manage("merchant", "roll-secret", "Sari Store", "--overlap", "24h")
    assert dict(SECRET.findall(output)) == {
        "test": reveal_webhook_secret(shop.merchant.id, False),
        "live": reveal_webhook_secret(shop.merchant.id, True),
    }
    assert output.count("older one   signs too until 2") == 2
    assert "shown only this once" in output


def test_one_mode_alone_can_be_rolled(manage: Manage, shop: NewMerchant) -> None:
    output = manage("merchant", "roll-secret", "Sari Store", "--mode", "live")
    assert SECRET.findall(output) == [("live", reveal_webhook_secret(shop.merchant.id, True))]
    assert reveal_webhook_secret(shop.merchant.id, False) == shop.webhook_secrets["whsec_test"]


def test_without_overlap_no_older_one_is_left(manage: Manage, shop: NewMerchant) -> None:
    assert "older one" not in manage("merchant", "roll-secret", "Sari Store", "--overlap", "0h")


@pytest.mark.parametrize("arguments", [["Nobody"], ["Sari Store", "--overlap=1w"], ["Sari Store", "--mode=prod"]])
def test_what_cannot_be_read_rolls_nothing(manage: Manage, shop: NewMerchant, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        manage("merchant", "roll-secret", *arguments)
    assert WebhookSecret.objects.count() == 2
