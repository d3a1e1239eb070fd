import django.db.models.deletion
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import F, Q

import payments.clock

PROTECT = django.db.models.deletion.PROTECT
# As they are from this migration on.
KINDS = {
    "capture": "Capture",
    "void": "Void",
    "refund": "Refund",
    "release": "Release",
    "extend": "Extend",
    "correction": "Correction",
    "issue_key": "Issue a key",
    "roll_key": "Roll a key",
    "add_account": "Connect a provider account",
    "change_account": "Change a provider account",
    "add_route": "Add a route",
    "change_route": "Change a route",
    "add_payout_account": "Set the bank account",
    "set_payout_schedule": "Set the payout schedule",
    "record_payout": "Record a payout",
    "raise_limit": "Raise the approval limit",
    "move_customers": "Move customers",
    "pay_out": "Pay out",
    "send_file": "Send a bank file",
    "file_layout": "Read files by a layout",
    "assistant_call": "Call of an assistant",
}
OF_NO_MERCHANT = Q(kind__in=["send_file", "file_layout"])
CONSTRAINTS = {
    "approval_request_is_of_a_merchant_or_a_bank_file": OF_NO_MERCHANT & Q(merchant__isnull=True)
    | ~OF_NO_MERCHANT & Q(merchant__isnull=False),
    "approval_request_kind_is_known": Q(kind__in=[*KINDS]),
}
NEVER_CHANGED = """
CREATE TRIGGER file_layout_unchanged BEFORE UPDATE OR DELETE ON payments_filelayout
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
"""
REPLACED = [
    operation
    for name, condition in CONSTRAINTS.items()
    for operation in (
        migrations.RemoveConstraint("approvalrequest", name),
        # The version before writes fewer kinds, and all rows that are there were checked by the constraint before.
        AddConstraintNotValid("approvalrequest", models.CheckConstraint(name=name, condition=condition)),
    )
]


def layout_of(related_name: str) -> models.ForeignKey:
    return models.ForeignKey(
        blank=True, db_index=False, null=True, on_delete=PROTECT, related_name=related_name, to="payments.filelayout"
    )


class Migration(migrations.Migration):
    """Adds the layouts by which files of any columns are read, and the requests for them."""

    dependencies = [("payments", "0007_bank_statements")]
    operations = [
        migrations.CreateModel(
            name="FileLayout",
            fields=[
                (
                    "request",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=PROTECT,
                        primary_key=True,
                        related_name="layout",
                        serialize=False,
                        to="payments.approvalrequest",
                    ),
                ),
                ("provider", models.CharField(max_length=40)),
                ("version", models.PositiveIntegerField()),
                ("settings", models.JSONField()),
                ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ],
            options={
                "verbose_name": "layout",
                "default_permissions": ("view", "add"),
                "constraints": [models.UniqueConstraint(F("provider"), F("version"), name="file_layout_version_once")],
            },
        ),
        migrations.RunSQL(NEVER_CHANGED, migrations.RunSQL.noop),
        migrations.AddField("reconciliationrun", "layout", layout_of("runs")),
        migrations.AddField("reportupload", "layout", layout_of("+")),
        migrations.AlterField("approvalrequest", "kind", models.CharField(max_length=19, choices=[*KINDS.items()])),
        *REPLACED,
    ]
