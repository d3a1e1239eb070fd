"""The kinds of requests for approval, and what the database refuses of them, whatever the code does."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments.db.checks import checks
from payments.models.charging.charge import AMOUNT_MAX
from payments.models.operators.reasons import SOMETHING_WRITTEN


class Kind(models.TextChoices):
    # Actions on a charge.
    CAPTURE = "capture", _("Capture")
    VOID = "void", _("Void")  # of a captured charge
    REFUND = "refund", _("Refund")
    RELEASE = "release", _("Release")  # of a hold
    EXTEND = "extend", _("Extend")
    # Of an unknown outcome, by the provider's own records.
    CORRECTION = "correction", _("Correction")
    ISSUE_KEY = "issue_key", _("Issue a key")
    ROLL_KEY = "roll_key", _("Roll a key")
    ADD_ACCOUNT = "add_account", _("Connect a provider account")
    CHANGE_ACCOUNT = "change_account", _("Change a provider account")
    ADD_ROUTE = "add_route", _("Add a route")
    CHANGE_ROUTE = "change_route", _("Change a route")
    ADD_PAYOUT_ACCOUNT = "add_payout_account", _("Set the bank account")
    SET_PAYOUT_SCHEDULE = "set_payout_schedule", _("Set the payout schedule")
    RECORD_PAYOUT = "record_payout", _("Record a payout")
    RAISE_LIMIT = "raise_limit", _("Raise the approval limit")
    # With their live cards, in or out, by a command.
    MOVE_CUSTOMERS = "move_customers", "Move customers"
    # Of a live payout, which waits until then.
    PAY_OUT = "pay_out", "Pay out"
    # Of a bank file, which has payouts of all merchants: that the bank has it.
    SEND_FILE = "send_file", "Send a bank file"
    # Of files of a provider or of our bank, which have payments of all merchants.
    FILE_LAYOUT = "file_layout", "Read files by a layout"
    # A tool that moves money, called by an assistant.
    ASSISTANT_CALL = "assistant_call", _("Call of an assistant")


UNDECIDED = Q(decided_by__isnull=True, decided_at__isnull=True, note="")
DECIDED = Q(decided_by__isnull=False, decided_at__isnull=False, note__regex=SOMETHING_WRITTEN)
ACTIONS = [kind.value for kind in (Kind.CAPTURE, Kind.VOID, Kind.REFUND, Kind.RELEASE, Kind.EXTEND)]
KEYS = [Kind.ISSUE_KEY.value, Kind.ROLL_KEY.value]
CORRECTION, ASSISTANT_CALL, PAY_OUT = Kind.CORRECTION.value, Kind.ASSISTANT_CALL.value, Kind.PAY_OUT.value
# What lets money go to merchants' banks; the subject waits whether somebody asks or not.
PAYING_OUT = [PAY_OUT, Kind.SEND_FILE.value]
# Of all merchants, so that nobody who works for some sees it.
OF_NO_MERCHANT = [Kind.SEND_FILE.value, Kind.FILE_LAYOUT.value]
# What is executed after an approval, or without the need for one.
EXECUTED = [*ACTIONS, ASSISTANT_CALL]
OPEN = ["proposed", "approved"]
CONSTRAINTS = [
    *checks(
        approval_request_is_of_a_merchant_or_a_bank_file=Q(kind__in=OF_NO_MERCHANT, merchant__isnull=True)
        | ~Q(kind__in=OF_NO_MERCHANT) & Q(merchant__isnull=False),
        approval_request_kind_is_known=Q(kind__in=Kind.values),
        approval_request_has_reason=Q(reason__regex=SOMETHING_WRITTEN),
        approval_request_decided_by_another=Q(decided_by__isnull=True) | ~Q(decided_by=F("proposed_by")),
        approval_request_decided_whole=Q(state__in=["approved", "done", "refused", "rejected"]) & DECIDED
        | Q(state__in=["proposed", "withdrawn", "expired", "overtaken"]) & UNDECIDED
        | Q(state__in=["approved", "done", "refused"], kind__in=EXECUTED) & UNDECIDED
        | Q(state="done", kind=PAY_OUT) & UNDECIDED
        | Q(state__in=["withdrawn", "expired"], kind__in=KEYS) & DECIDED,
        approval_request_state_fits_its_kind=Q(state__in=["proposed", "done", "rejected", "withdrawn", "expired"])
        | Q(state="approved", kind__in=[*EXECUTED, *KEYS])
        | Q(state="refused", kind__in=EXECUTED)
        | Q(state="overtaken", kind__in=[CORRECTION, *PAYING_OUT]),
        approval_request_keeps_no_credentials=Q(sealed_credentials__isnull=True)
        | Q(state="proposed", kind__in=["add_account", "change_account", "add_payout_account"]),
        operator_action_has_amount=~Q(kind__in=ACTIONS)
        | Q(charge__isnull=False, amount__isnull=False, amount__gte=1, amount__lte=AMOUNT_MAX) & ~Q(currency=""),
        assistant_call_has_amount=~Q(kind=ASSISTANT_CALL)
        | Q(amount__isnull=False, amount__gte=1, amount__lte=AMOUNT_MAX, after__has_keys=["tool", "key"])
        & ~Q(currency=""),
        payout_request_has_amount=~Q(kind__in=PAYING_OUT) | Q(amount__isnull=False, amount__gte=1) & ~Q(currency=""),
        operator_action_above_the_limit_by_two=~Q(
            kind__in=[Kind.VOID.value, Kind.REFUND.value, ASSISTANT_CALL, PAY_OUT]
        )
        | Q(state__in=["proposed", "rejected", "withdrawn", "expired", "overtaken"])
        | Q(decided_by__isnull=False)
        | Q(limit__isnull=False, amount__lte=F("limit")),
        operator_action_ends_with_attempt_or_code=~Q(kind__in=EXECUTED) & Q(code="")
        | Q(kind=ASSISTANT_CALL, state="done", code="")
        | Q(state="done", attempt__isnull=False, code="")
        | Q(state="refused") & ~Q(code="")
        | Q(attempt__isnull=True, code="") & ~Q(state__in=["done", "refused"]),
        correction_outcome_has_its_proof=~Q(kind=CORRECTION)
        | Q(charge__isnull=False, attempt__isnull=False, after__has_keys=["outcome", "code", "reference"])
        & (
            Q(after__outcome="approved", after__code="") & ~Q(after__reference="")
            | Q(after__outcome="declined", after__reference="") & ~Q(after__code="")
            | Q(after__outcome="never_arrived", after__code="", after__reference="")
        ),
    ),
    models.UniqueConstraint(F("subject_id"), name="one_open_approval_request_per_subject", condition=Q(state__in=OPEN)),
    models.UniqueConstraint(
        F("subject_id"), name="payout_is_approved_once", condition=Q(kind__in=PAYING_OUT, state="done")
    ),
    models.UniqueConstraint(
        F("subject_id"), name="one_assistant_call_per_idempotency_key", condition=Q(kind=ASSISTANT_CALL)
    ),
    models.UniqueConstraint(F("attempt"), name="one_operator_action_per_attempt", condition=Q(kind__in=ACTIONS)),
]
