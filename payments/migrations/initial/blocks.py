"""Create blocks."""

import django.db.models.functions.text
import payments.clock
import payments.ids
import payments.models.operators.correction
import payments.models.risk.block
from django.db import migrations, models
from django.db.models import F, Q
from django.conf import settings

OPERATIONS = [
    migrations.CreateModel(
        name="Block",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("fingerprint", models.BinaryField(max_length=32, null=True)),
            ("card", models.CharField(blank=True, default="", max_length=20)),
            ("bin", models.CharField(blank=True, default="", max_length=6, validators=[payments.models.risk.block.BIN_DIGITS])),
            ("email", models.CharField(blank=True, default="", max_length=254)),
            ("address", models.CharField(blank=True, default="", max_length=50)),
            ("reason", models.CharField(max_length=500, validators=[payments.models.operators.correction.free_of_secrets])),
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("lifted_at", models.DateTimeField(blank=True, null=True)),
            ("lifted_because", models.CharField(blank=True, default="", max_length=500, validators=[payments.models.operators.correction.free_of_secrets])),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("lifted_by", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("merchant", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("put_by", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "permissions": [
                ("put_block", "Can block cards, e-mail addresses and addresses"),
                ("lift_block", "Can lift blocks"),
            ],
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("fingerprint"), condition=Q(("fingerprint__isnull", False), ("lifted_at__isnull", True)), name="block_of_card"),
                models.Index(F("bin"), condition=Q(("lifted_at__isnull", True), Q(("bin", ""), _negated=True)), name="block_of_bin"),
                models.Index(F("email"), condition=Q(("lifted_at__isnull", True), Q(("email", ""), _negated=True)), name="block_of_email"),
                models.Index(F("address"), condition=Q(("lifted_at__isnull", True), Q(("address", ""), _negated=True)), name="block_of_address"),
            ],
            "constraints": [
                models.CheckConstraint(
                    condition=Q(
                        Q(("address", ""), ("bin", ""), ("email", ""), ("fingerprint__isnull", False), Q(("card", ""), _negated=True)),
                        Q(("address", ""), ("card", ""), ("email", ""), ("fingerprint__isnull", True), Q(("bin", ""), _negated=True)),
                        Q(("address", ""), ("bin", ""), ("card", ""), ("fingerprint__isnull", True), Q(("email", ""), _negated=True)),
                        Q(("bin", ""), ("card", ""), ("email", ""), ("fingerprint__isnull", True), Q(("address", ""), _negated=True)),
                        _connector="OR",
                    ),
                    name="block_is_of_one_thing",
                ),
                models.CheckConstraint(condition=Q(("email", django.db.models.functions.text.Lower("email"))), name="block_email_in_lower_case"),
                models.CheckConstraint(condition=Q(("reason__regex", "\\S")), name="block_has_a_reason"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("lifted_at__isnull", True), ("lifted_because", ""), ("lifted_by__isnull", True)),
                        Q(("lifted_at__isnull", False), ("lifted_because__regex", "\\S"), ("lifted_by__isnull", False)),
                        _connector="OR",
                    ),
                    name="block_lifted_whole",
                ),
            ],
        },
    ),
]
