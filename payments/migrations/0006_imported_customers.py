from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import Q

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
    "assistant_call": "Call of an assistant",
}
NAME = "approval_request_kind_is_known"


class Migration(migrations.Migration):
    """Knows the requests to move customers with their cards."""

    dependencies = [("payments", "0005_index_requests_to_collect")]
    operations = [
        migrations.AlterField("approvalrequest", "kind", models.CharField(max_length=19, choices=[*KINDS.items()])),
        migrations.RemoveConstraint("approvalrequest", NAME),
        # The version before writes fewer kinds, and all rows that are there were checked by the constraint before.
        AddConstraintNotValid("approvalrequest", models.CheckConstraint(name=NAME, condition=Q(kind__in=[*KINDS]))),
    ]
