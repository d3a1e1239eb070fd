"""Create what operators request and decide."""

import payments.clock
import payments.ids
import payments.models.operators.reasons
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.lookups import Exact, IsNull
from django.conf import settings

ACTIONS = ["capture", "void", "refund", "release", "extend"]
EXECUTED = [*ACTIONS, "assistant_call"]
KEYS = ["issue_key", "roll_key"]
PAYING_OUT = ["pay_out", "send_file"]
OPEN = ["proposed", "approved"]
OPERATIONS = [
    migrations.CreateModel(
        name="ApprovalLimit",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("currency", models.CharField(max_length=3)),
            ("amount", models.BigIntegerField()),
            (
                "role",
                models.ForeignKey(
                    blank=True,
                    db_index=False,
                    null=True,
                    on_delete=models.CASCADE,
                    related_name="approval_limits",
                    to="auth.group",
                ),
            ),
            (
                "merchant",
                models.ForeignKey(
                    blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.merchant"
                ),
            ),
        ],
        options={
            "verbose_name": "approval limit",
            "verbose_name_plural": "approval limits",
            "default_permissions": ("view", "add", "change"),
            "constraints": [
                models.UniqueConstraint(F("role"), F("currency"), name="one_approval_limit_per_role_and_currency"),
                models.UniqueConstraint(F("merchant"), F("currency"), name="one_approval_limit_per_merchant_and_currency"),
                models.CheckConstraint(
                    name="approval_limit_of_a_role_or_a_merchant",
                    condition=Exact(IsNull(F("role"), True), IsNull(F("merchant"), False)),
                ),
                models.CheckConstraint(condition=Q(("amount__gte", 0), ("amount__lte", 99999999999)), name="approval_limit_in_bounds"),
            ],
        },
    ),
    migrations.CreateModel(
        name="ApprovalRequest",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("merchant", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            (
                "kind",
                models.CharField(
                    choices=[
                        ("capture", "Capture"),
                        ("void", "Void"),
                        ("refund", "Refund"),
                        ("release", "Release"),
                        ("extend", "Extend"),
                        ("correction", "Correction"),
                        ("issue_key", "Issue a key"),
                        ("roll_key", "Roll a key"),
                        ("add_account", "Connect a provider account"),
                        ("change_account", "Change a provider account"),
                        ("add_route", "Add a route"),
                        ("change_route", "Change a route"),
                        ("add_payout_account", "Set the bank account"),
                        ("set_payout_schedule", "Set the payout schedule"),
                        ("record_payout", "Record a payout"),
                        ("raise_limit", "Raise the approval limit"),
                        ("pay_out", "Pay out"),
                        ("send_file", "Send a bank file"),
                        ("assistant_call", "Call of an assistant"),
                    ],
                    max_length=19,
                ),
            ),
            ("subject_id", models.UUIDField()),
            ("charge", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="approval_requests", to="payments.charge")),
            ("attempt", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="approval_requests", to="payments.attempt")),
            ("amount", models.BigIntegerField(blank=True, null=True)),
            ("currency", models.CharField(blank=True, default="", max_length=3)),
            ("limit", models.BigIntegerField(blank=True, null=True)),
            ("before", models.JSONField(blank=True, default=dict)),
            ("after", models.JSONField(blank=True, default=dict)),
            ("sealed_credentials", models.BinaryField(blank=True, null=True)),
            ("reason", models.CharField(max_length=2000, validators=[payments.models.operators.reasons.free_of_secrets])),
            (
                "state",
                models.CharField(
                    choices=[
                        ("proposed", "Proposed"),
                        ("approved", "Approved"),
                        ("done", "Done"),
                        ("refused", "Refused"),
                        ("rejected", "Rejected"),
                        ("withdrawn", "Withdrawn"),
                        ("expired", "Expired"),
                        ("overtaken", "Overtaken"),
                    ],
                    default="proposed",
                    max_length=9,
                ),
            ),
            ("proposed_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("decided_by", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("decided_at", models.DateTimeField(blank=True, null=True)),
            ("note", models.CharField(blank=True, default="", max_length=500, validators=[payments.models.operators.reasons.free_of_secrets])),
            ("batch", models.UUIDField(blank=True, null=True)),
            ("code", models.CharField(blank=True, default="", max_length=40)),
            ("expires_at", models.DateTimeField()),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
        ],
        options={
            "verbose_name": "request for approval",
            "verbose_name_plural": "requests for approval",
            "permissions": [("decide_approvalrequest", "Can approve and reject requests of others")],
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("expires_at"), condition=Q(("state__in", OPEN)), name="approval_request_open"),
                models.Index(F("batch"), condition=Q(("batch__isnull", False)), name="operator_action_of_batch"),
                models.Index(F("proposed_by"), F("created_at"), condition=Q(("kind", "assistant_call")), name="assistant_call_of_day"),
            ],
            "constraints": [
                models.CheckConstraint(
                    condition=Q(kind="send_file", merchant__isnull=True) | ~Q(kind="send_file") & Q(merchant__isnull=False),
                    name="approval_request_is_of_a_merchant_or_a_bank_file",
                ),
                models.CheckConstraint(
                    condition=Q(
                        ("kind__in", [*ACTIONS, "correction", *KEYS, "add_account", "change_account", "add_route", "change_route", "add_payout_account", "set_payout_schedule", "record_payout", "raise_limit", *PAYING_OUT, "assistant_call"])
                    ),
                    name="approval_request_kind_is_known",
                ),
                models.CheckConstraint(condition=Q(("reason__regex", "\\S")), name="approval_request_has_reason"),
                models.CheckConstraint(condition=Q(("decided_by__isnull", True), Q(("decided_by", F("proposed_by")), _negated=True), _connector="OR"), name="approval_request_decided_by_another"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("state__in", ["approved", "done", "refused", "rejected"]), ("decided_at__isnull", False), ("decided_by__isnull", False), ("note__regex", "\\S")),
                        Q(("state__in", ["proposed", "withdrawn", "expired", "overtaken"]), ("decided_at__isnull", True), ("decided_by__isnull", True), ("note", "")),
                        Q(("kind__in", EXECUTED), ("state__in", ["approved", "done", "refused"]), ("decided_at__isnull", True), ("decided_by__isnull", True), ("note", "")),
                        Q(("kind", "pay_out"), ("state", "done"), ("decided_at__isnull", True), ("decided_by__isnull", True), ("note", "")),
                        Q(("kind__in", KEYS), ("state__in", ["withdrawn", "expired"]), ("decided_at__isnull", False), ("decided_by__isnull", False), ("note__regex", "\\S")),
                        _connector="OR",
                    ),
                    name="approval_request_decided_whole",
                ),
                models.CheckConstraint(
                    condition=Q(
                        ("state__in", ["proposed", "done", "rejected", "withdrawn", "expired"]),
                        Q(("kind__in", [*EXECUTED, *KEYS]), ("state", "approved")),
                        Q(("kind__in", EXECUTED), ("state", "refused")),
                        Q(("kind__in", ["correction", *PAYING_OUT]), ("state", "overtaken")),
                        _connector="OR",
                    ),
                    name="approval_request_state_fits_its_kind",
                ),
                models.CheckConstraint(
                    condition=Q(("sealed_credentials__isnull", True), Q(("kind__in", ["add_account", "change_account", "add_payout_account"]), ("state", "proposed")), _connector="OR"),
                    name="approval_request_keeps_no_credentials",
                ),
                models.CheckConstraint(
                    condition=Q(
                        Q(("kind__in", ACTIONS), _negated=True),
                        Q(("amount__gte", 1), ("amount__isnull", False), ("amount__lte", 99999999999), ("charge__isnull", False), Q(("currency", ""), _negated=True)),
                        _connector="OR",
                    ),
                    name="operator_action_has_amount",
                ),
                models.CheckConstraint(
                    condition=Q(
                        Q(("kind", "assistant_call"), _negated=True),
                        Q(("after__has_keys", ["tool", "key"]), ("amount__gte", 1), ("amount__isnull", False), ("amount__lte", 99999999999), Q(("currency", ""), _negated=True)),
                        _connector="OR",
                    ),
                    name="assistant_call_has_amount",
                ),
                models.CheckConstraint(
                    condition=Q(Q(("kind__in", PAYING_OUT), _negated=True), Q(("amount__gte", 1), ("amount__isnull", False), Q(("currency", ""), _negated=True)), _connector="OR"),
                    name="payout_request_has_amount",
                ),
                models.CheckConstraint(
                    condition=Q(
                        Q(("kind__in", ["void", "refund", "assistant_call", "pay_out"]), _negated=True),
                        ("state__in", ["proposed", "rejected", "withdrawn", "expired", "overtaken"]),
                        ("decided_by__isnull", False),
                        Q(("amount__lte", F("limit")), ("limit__isnull", False)),
                        _connector="OR",
                    ),
                    name="operator_action_above_the_limit_by_two",
                ),
                models.CheckConstraint(
                    condition=Q(
                        Q(Q(("kind__in", EXECUTED), _negated=True), ("code", "")),
                        Q(("code", ""), ("kind", "assistant_call"), ("state", "done")),
                        Q(("attempt__isnull", False), ("code", ""), ("state", "done")),
                        Q(("state", "refused"), Q(("code", ""), _negated=True)),
                        Q(("attempt__isnull", True), ("code", ""), Q(("state__in", ["done", "refused"]), _negated=True)),
                        _connector="OR",
                    ),
                    name="operator_action_ends_with_attempt_or_code",
                ),
                models.CheckConstraint(
                    condition=Q(
                        Q(("kind", "correction"), _negated=True),
                        Q(
                            ("after__has_keys", ["outcome", "code", "reference"]),
                            ("attempt__isnull", False),
                            ("charge__isnull", False),
                            Q(
                                Q(("after__code", ""), ("after__outcome", "approved"), Q(("after__reference", ""), _negated=True)),
                                Q(("after__outcome", "declined"), ("after__reference", ""), Q(("after__code", ""), _negated=True)),
                                Q(("after__code", ""), ("after__outcome", "never_arrived"), ("after__reference", "")),
                                _connector="OR",
                            ),
                        ),
                        _connector="OR",
                    ),
                    name="correction_outcome_has_its_proof",
                ),
                models.UniqueConstraint(F("subject_id"), condition=Q(("state__in", OPEN)), name="one_open_approval_request_per_subject"),
                models.UniqueConstraint(F("subject_id"), condition=Q(("kind__in", PAYING_OUT), ("state", "done")), name="payout_is_approved_once"),
                models.UniqueConstraint(F("subject_id"), condition=Q(("kind", "assistant_call")), name="one_assistant_call_per_idempotency_key"),
                models.UniqueConstraint(F("attempt"), condition=Q(("kind__in", ACTIONS)), name="one_operator_action_per_attempt"),
            ],
        },
    ),
    migrations.CreateModel(
        name="OperatorAction",
        fields=[],
        options={
            "verbose_name": "action on a charge",
            "verbose_name_plural": "actions on charges",
            "permissions": [
                ("capture_charge", "Can capture held charges"),
                ("void_charge", "Can void captured charges"),
                ("refund_charge", "Can refund charges"),
                ("release_charge", "Can release holds"),
                ("extend_charge", "Can extend holds"),
                ("decide_operatoraction", "Can approve and reject actions of others"),
            ],
            "proxy": True,
            "default_permissions": ("view",),
            "indexes": [],
            "constraints": [],
        },
        bases=("payments.approvalrequest",),
    ),
    migrations.CreateModel(
        name="Correction",
        fields=[],
        options={
            "permissions": [("propose_correction", "Can propose correction"), ("approve_correction", "Can approve and reject corrections of others")],
            "proxy": True,
            "default_permissions": ("view",),
            "indexes": [],
            "constraints": [],
        },
        bases=("payments.approvalrequest",),
    ),
    migrations.CreateModel(
        name="AssistantCall",
        fields=[],
        options={
            "verbose_name": "call of an assistant",
            "verbose_name_plural": "calls of assistants",
            "proxy": True,
            "default_permissions": ("view",),
            "indexes": [],
            "constraints": [],
        },
        bases=("payments.approvalrequest",),
    ),
    migrations.CreateModel(
        name="UnknownOutcome",
        fields=[],
        options={
            "permissions": [
                ("look_up_unknownoutcome", "Can look up unknown outcome now"),
            ],
            "proxy": True,
            "default_permissions": ("view",),
            "indexes": [],
            "constraints": [],
        },
        bases=("payments.attempt",),
    ),
]
