"""The account, its balance, requests and test clock in the OpenAPI document (contract, section 3)."""

from payments.api.account import BALANCE
from payments.api.clock import CLOCK
from payments.api.organization import ACCOUNT
from payments.api.requests import REQUEST
from payments.api.schema.callbacks import example_of
from payments.api.schema.operations import DescribedView, id_in_path, listing, reading, writing
from payments.api.schema.responses import NOTHING
from payments.api.validation.query_fields import FeedQuery
from payments.api.validation.serializers import CauseInput, ClockInput
from payments.domain.catalogue.error_table import EVENT_NOT_POSSIBLE
from payments.domain.catalogue.event_types import PAYOUT_FAILED
from payments.domain.maintenance.partitions import REQUESTS_KEEP_DAYS
from payments.rendering.objects.events import EVENT


class Requests(DescribedView):
    target_class = "payments.api.requests.RequestViewSet"
    tag = "Requests"
    at = [id_in_path("req", "request")]
    operations = {
        "list": listing(
            "list_requests",
            "List your requests",
            "The requests of your keys in this mode, those that ended last first. "
            f"They are kept for {REQUESTS_KEEP_DAYS} days, and are listed about 2 s after their answer; after a crash "
            "or a flood some may be missing. Requests for this list and those that wait are not in it.",
            REQUEST,
            "/v2/requests/",
            FeedQuery,
        ),
        "retrieve": reading(
            "retrieve_request", "Retrieve a request", "The request whose answer had this `Request-Id`.", REQUEST
        ),
    }


class AccountDescription(DescribedView):
    target_class = "payments.api.account.AccountViewSet"
    tag = "Account"
    operations = {
        "me": reading("retrieve_account", "Retrieve your account", "The merchant of this key.", ACCOUNT),
        "balance": reading(
            "retrieve_balance",
            "Retrieve your balance",
            "Your money in this mode, by currency, after fees and refunds. A refund reduces it at once, and gives the "
            "amount back if it fails. `/v2/balance_transactions` lists what it is made of; holds are not in it.",
            BALANCE,
        ),
        "ping": reading("ping", "Try a key", "Answers an empty object to a valid key.", NOTHING, {}),
    }


class Clock(DescribedView):
    target_class = "payments.api.clock.ClockViewSet"
    tag = "Testing"
    operations = {
        "advance": writing(
            "advance_clock",
            "Advance the test clock",
            "Moves every deadline of your test objects nearer by this time. It exists only where the service runs with "
            "`KAHA_CLOCK`; elsewhere, and with a live key, the answer is 404. The answer comes when everything due has "
            "been done, after half a minute at the latest: expired holds and actions have ended, unknown outcomes were "
            "looked up, refunds have ended, captured money is settled, and webhooks were sent. New deadlines wait for "
            "another call: one call makes one more attempt of a webhook that is due. `created_at` and other past times "
            "do not change.",
            ClockInput,
            CLOCK,
            sent={"A week": {"advance_seconds": CLOCK.example["advanced_seconds"]}},
            answered={"A week later": CLOCK.example},
            may_miss=True,
        ),
        "cause": writing(
            "cause_event",
            "Have a bank or a person act",
            "Does what only banks and people do, and answers the event. `payout.failed`: the bank refuses your newest "
            "payout, or returns it. `payout.cancelled`: an operator makes a payout of what is available, and cancels "
            "it. `payout_account.created`: your bank account is added again; `.updated`: one is added, and withdrawn "
            "before it takes effect. It exists where the test clock does.",
            CauseInput,
            EVENT,
            sent={"A payout that fails": {"type": PAYOUT_FAILED}},
            answered={"The event": example_of(PAYOUT_FAILED)},
            conflicts=[EVENT_NOT_POSSIBLE],
            may_miss=True,
            handles_cards=True,
        ),
    }
