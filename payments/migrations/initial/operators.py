"""Create what operators request and decide."""

import payments.clock
import payments.ids
import payments.models.operators.correction
from django.db import migrations, models
from django.db.models import F, Q
from django.conf import settings

OPERATIONS = [
    migrations.CreateModel(
        name="ApprovalLimit",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("currency", models.CharField(max_length=3)),
            ("amount", models.BigIntegerField()),
            ("role", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="approval_limits", to="auth.group")),
        ],
        options={
            "verbose_name": "approval limit",
            "verbose_name_plural": "approval limits",
            "default_permissions": ("view", "add", "change"),
            "constraints": [
                models.UniqueConstraint(F("role"), F("currency"), name="one_approval_limit_per_role_and_currency"),
                models.CheckConstraint(condition=Q(("amount__gte", 0), ("amount__lte", 99999999999)), name="approval_limit_in_bounds"),
            ],
        },
    ),
    migrations.CreateModel(
        name="OperatorAction",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("kind", models.CharField(choices=[("capture", "Capture"), ("void", "Void"), ("refund", "Refund"), ("release", "Release"), ("extend", "Extend")], max_length=7)),
            ("amount", models.BigIntegerField()),
            ("currency", models.CharField(max_length=3)),
            ("reason", models.CharField(max_length=500, validators=[payments.models.operators.correction.free_of_secrets])),
            (
                "state",
                models.CharField(
                    choices=[
                        *(("proposed", "Proposed"), ("approved", "Approved"), ("done", "Done"), ("refused", "Refused")),
                        *(("declined", "Declined"), ("withdrawn", "Withdrawn"), ("expired", "Expired")),
                    ],
                    default="proposed",
                    max_length=9,
                ),
            ),
            ("limit", models.BigIntegerField(blank=True, null=True)),
            ("decided_at", models.DateTimeField(blank=True, null=True)),
            ("note", models.CharField(blank=True, default="", max_length=500, validators=[payments.models.operators.correction.free_of_secrets])),
            ("batch", models.UUIDField(blank=True, null=True)),
            ("expires_at", models.DateTimeField()),
            ("code", models.CharField(blank=True, default="", max_length=40)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("attempt", models.OneToOneField(blank=True, null=True, on_delete=models.PROTECT, related_name="operator_action", to="payments.attempt")),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("charge", models.ForeignKey(on_delete=models.PROTECT, related_name="operator_actions", to="payments.charge")),
            ("decided_by", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("proposed_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "verbose_name": "operator action",
            "verbose_name_plural": "operator actions",
            "permissions": [
                ("capture_charge", "Can capture held charges"),
                ("void_charge", "Can void captured charges"),
                ("refund_charge", "Can refund charges"),
                ("release_charge", "Can release holds"),
                ("extend_charge", "Can extend holds"),
                ("decide_operatoraction", "Can approve and decline actions of others"),
            ],
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("expires_at"), condition=Q(("state__in", ["proposed", "approved"])), name="operator_action_open"),
                models.Index(F("batch"), condition=Q(("batch__isnull", False)), name="operator_action_of_batch"),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(("amount__gte", 1), ("amount__lte", 99999999999)), name="operator_action_has_amount"),
                models.CheckConstraint(condition=Q(("kind__in", ["capture", "void", "refund", "release", "extend"])), name="operator_action_kind_is_known"),
                models.CheckConstraint(condition=Q(("reason__regex", "\\S")), name="operator_action_has_reason"),
                models.CheckConstraint(condition=Q(("decided_by__isnull", True), Q(("decided_by", F("proposed_by")), _negated=True), _connector="OR"), name="operator_action_decided_by_another"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("state", "declined"), ("decided_at__isnull", False), ("decided_by__isnull", False), ("note__regex", "\\S")),
                        Q(
                            ("state__in", ["approved", "done", "refused"]),
                            Q(
                                Q(("decided_at__isnull", False), ("decided_by__isnull", False), ("note__regex", "\\S")),
                                Q(("decided_at__isnull", True), ("decided_by__isnull", True), ("note", "")),
                                _connector="OR",
                            ),
                        ),
                        Q(("state__in", ["proposed", "withdrawn", "expired"]), ("decided_at__isnull", True), ("decided_by__isnull", True), ("note", "")),
                        _connector="OR",
                    ),
                    name="operator_action_decided_whole",
                ),
                models.CheckConstraint(
                    condition=Q(
                        ("state__in", ["proposed", "declined", "withdrawn", "expired"]),
                        Q(("kind__in", ["void", "refund"]), _negated=True),
                        ("decided_by__isnull", False),
                        Q(("amount__lte", F("limit")), ("limit__isnull", False)),
                        _connector="OR",
                    ),
                    name="operator_action_above_the_limit_by_two",
                ),
                models.CheckConstraint(
                    condition=Q(
                        Q(("attempt__isnull", False), ("code", ""), ("state", "done")),
                        Q(("state", "refused"), Q(("code", ""), _negated=True)),
                        Q(("attempt", None), ("code", ""), ("state__in", ["proposed", "approved", "declined", "withdrawn", "expired"])),
                        _connector="OR",
                    ),
                    name="operator_action_ends_with_attempt_or_code",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="ApprovalRequest",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            (
                "kind",
                models.CharField(
                    choices=[
                        ("issue_key", "Issue a key"),
                        ("roll_key", "Roll a key"),
                        ("add_account", "Connect a provider account"),
                        ("change_account", "Change a provider account"),
                        ("add_route", "Add a route"),
                        ("change_route", "Change a route"),
                        ("add_payout_account", "Set the bank account"),
                        ("set_payout_schedule", "Set the payout schedule"),
                        ("record_payout", "Record a payout"),
                    ],
                    max_length=19,
                ),
            ),
            ("subject_id", models.UUIDField()),
            ("parameters", models.JSONField()),
            ("before", models.JSONField(blank=True, default=dict)),
            ("sealed_credentials", models.BinaryField(blank=True, null=True)),
            ("reason", models.CharField(max_length=500, validators=[payments.models.operators.correction.free_of_secrets])),
            (
                "state",
                models.CharField(
                    choices=[("proposed", "Proposed"), ("approved", "Approved"), ("done", "Done"), ("declined", "Declined"), ("withdrawn", "Withdrawn"), ("expired", "Expired")],
                    default="proposed",
                    max_length=9,
                ),
            ),
            ("decided_at", models.DateTimeField(blank=True, null=True)),
            ("note", models.CharField(blank=True, default="", max_length=500, validators=[payments.models.operators.correction.free_of_secrets])),
            ("expires_at", models.DateTimeField()),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("decided_by", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("merchant", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("proposed_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "verbose_name": "request for approval",
            "verbose_name_plural": "requests for approval",
            "permissions": [
                ("decide_approvalrequest", "Can approve and decline requests of others"),
            ],
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("expires_at"), condition=Q(("state__in", ["proposed", "approved"])), name="approval_request_open"),
            ],
            "constraints": [
                models.CheckConstraint(
                    condition=Q(
                        (
                            "kind__in",
                            [
                                "issue_key",
                                "roll_key",
                                "add_account",
                                "change_account",
                                "add_route",
                                "change_route",
                                "add_payout_account",
                                "set_payout_schedule",
                                "record_payout",
                            ],
                        )
                    ),
                    name="approval_request_kind_is_known",
                ),
                models.CheckConstraint(condition=Q(("reason__regex", "\\S")), name="approval_request_has_reason"),
                models.CheckConstraint(condition=Q(("decided_by__isnull", True), Q(("decided_by", F("proposed_by")), _negated=True), _connector="OR"), name="approval_request_decided_by_another"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("state__in", ["approved", "done", "declined"]), ("decided_at__isnull", False), ("decided_by__isnull", False), ("note__regex", "\\S")),
                        Q(("state", "proposed"), ("decided_at__isnull", True), ("decided_by__isnull", True), ("note", "")),
                        Q(
                            ("state__in", ["withdrawn", "expired"]),
                            Q(
                                Q(("decided_at__isnull", False), ("decided_by__isnull", False), ("note__regex", "\\S")),
                                Q(("decided_at__isnull", True), ("decided_by__isnull", True), ("note", "")),
                                _connector="OR",
                            ),
                        ),
                        _connector="OR",
                    ),
                    name="approval_request_decided_whole",
                ),
                models.CheckConstraint(condition=Q(Q(("state", "approved"), _negated=True), ("kind__in", ["issue_key", "roll_key"]), _connector="OR"), name="approval_request_waits_only_for_a_key"),
                models.CheckConstraint(
                    condition=Q(("sealed_credentials__isnull", True), Q(("kind__in", ["add_account", "change_account", "add_payout_account"]), ("state", "proposed")), _connector="OR"),
                    name="approval_request_keeps_no_credentials",
                ),
                models.UniqueConstraint(F("subject_id"), condition=Q(("state__in", ["proposed", "approved"])), name="one_open_approval_request_per_subject"),
            ],
        },
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
    migrations.CreateModel(
        name="Correction",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            (
                "outcome",
                models.CharField(
                    choices=[("approved", "Approved: the provider did it"), ("declined", "Declined: the provider refused it"), ("never_arrived", "Never arrived: the provider knows nothing of it")],
                    max_length=13,
                ),
            ),
            ("decline_code", models.CharField(blank=True, default="", max_length=30)),
            ("provider_ref", models.CharField(blank=True, default="", max_length=255, verbose_name="provider's reference")),
            ("evidence", models.CharField(max_length=2000, validators=[payments.models.operators.correction.free_of_secrets])),
            (
                "state",
                models.CharField(
                    choices=[("proposed", "Proposed"), ("approved", "Approved"), ("rejected", "Rejected"), ("withdrawn", "Withdrawn"), ("overtaken", "Overtaken")], default="proposed", max_length=9
                ),
            ),
            ("decided_at", models.DateTimeField(blank=True, null=True)),
            ("note", models.CharField(blank=True, default="", max_length=500, validators=[payments.models.operators.correction.free_of_secrets])),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("attempt", models.ForeignKey(on_delete=models.PROTECT, related_name="corrections", to="payments.attempt")),
            ("decided_by", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("proposed_by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "permissions": [
                ("propose_correction", "Can propose correction"),
                ("approve_correction", "Can approve and reject corrections of others"),
            ],
            "default_permissions": ("view",),
            "constraints": [
                models.CheckConstraint(
                    condition=Q(
                        Q(("decline_code", ""), ("outcome", "approved"), Q(("provider_ref", ""), _negated=True)),
                        Q(("outcome", "declined"), ("provider_ref", ""), Q(("decline_code", ""), _negated=True)),
                        Q(("decline_code", ""), ("outcome", "never_arrived"), ("provider_ref", "")),
                        _connector="OR",
                    ),
                    name="correction_outcome_has_its_proof",
                    violation_error_message="An approval needs the provider's reference, a decline its code, and no other.",
                ),
                models.CheckConstraint(condition=Q(("evidence__regex", "\\S")), name="correction_has_evidence"),
                models.CheckConstraint(condition=Q(("decided_by__isnull", True), Q(("decided_by", F("proposed_by")), _negated=True), _connector="OR"), name="correction_decided_by_another"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("state__in", ["approved", "rejected"]), ("decided_at__isnull", False), ("decided_by__isnull", False), ("note__regex", "\\S")),
                        Q(("state__in", ["proposed", "withdrawn", "overtaken"]), ("decided_at__isnull", True), ("decided_by__isnull", True), ("note", "")),
                        _connector="OR",
                    ),
                    name="correction_decided_whole",
                ),
                models.UniqueConstraint(
                    F("attempt"), condition=Q(("state", "proposed")), name="one_open_correction_per_attempt", violation_error_message="There is an open proposal for this attempt already."
                ),
            ],
        },
    ),
]
