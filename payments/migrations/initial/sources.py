"""Create sources and their cards, the keys that seal card numbers and CVCs, and blocks on cards and payers."""

import django.db.models.functions.text
import payments.clock
import payments.ids
import payments.db.checks
import payments.db.fields
import payments.models.operators.reasons
from django.conf import settings
from django.core.validators import RegexValidator
from django.db import migrations, models
from django.db.models import F, Q

OPERATIONS = [
    migrations.CreateModel(
        name="BinRange",
        fields=[
            ("prefix", models.CharField(max_length=11, primary_key=True, serialize=False)),
            ("brand", models.CharField(max_length=10)),
            ("funding", models.CharField(default="unknown", max_length=10)),
            ("country", models.CharField(default="unknown", max_length=10)),
            ("issuing_bank", models.CharField(default="unknown", max_length=100)),
        ],
        options={
            "verbose_name": "BIN range",
        },
    ),
    migrations.CreateModel(
        name="Source",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("type", models.CharField(max_length=20)),
            ("used", models.BooleanField(default=False)),
            ("vaulted", models.BooleanField(default=False)),
            ("redirect", payments.db.fields.VerbatimJSONField(blank=True, null=True)),
            ("owner", payments.db.fields.VerbatimJSONField(blank=True, null=True)),
            ("bank_account", payments.db.fields.VerbatimJSONField(blank=True, null=True)),
            ("metadata", payments.db.fields.VerbatimJSONField(blank=True, null=True)),
            ("consent", payments.db.fields.VerbatimJSONField(blank=True, null=True)),
            ("version", models.IntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("customer_id", models.UUIDField(blank=True, null=True)),
        ],
        options={
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("id"), name="source_of_merchant"),
            ],
            "constraints": [
                payments.db.checks.RowRules(
                    name="source_follows_rules",
                    rules={
                        "source_type_is_known": Q(("type__regex", "^(card|gcash|maya|paymaya|grabpay|alipay|wechat|unionpay|qrph|instapay|pesonet|bpi|bdo|unionbank|rcbc)$")),
                        "source_vaulted_is_used": Q(("vaulted", False), ("used", True), _connector="OR"),
                        "source_version_not_negative": Q(("version__gte", 0)),
                    },
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Card",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("name", models.CharField(max_length=50)),
            ("bin", models.CharField(max_length=6, verbose_name="BIN")),
            ("last4", models.CharField(max_length=4)),
            ("exp_month", models.CharField(max_length=2)),
            ("exp_year", models.CharField(max_length=4)),
            ("address", payments.db.fields.VerbatimJSONField(blank=True, default=dict)),
            ("brand", models.CharField(max_length=10)),
            ("funding", models.CharField(max_length=10)),
            ("country", models.CharField(max_length=10)),
            ("issuing_bank", models.CharField(max_length=100)),
            ("cvc_checked", models.CharField(choices=[("pass", "Pass"), ("fail", "Fail"), ("unavailable", "Unavailable"), ("unchecked", "Unchecked")], default="unchecked", max_length=11)),
            ("fingerprint", models.BinaryField(max_length=32)),
            ("sealed_number", models.BinaryField(null=True)),
            ("sealed_cvc", models.BinaryField(null=True)),
            ("cvc_expires_at", models.DateTimeField(blank=True, null=True)),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("source", models.OneToOneField(on_delete=models.CASCADE, related_name="card", to="payments.source")),
            ("number_expires_at", models.DateTimeField(blank=True, null=True)),
            ("expiring_at", models.DateTimeField(blank=True, null=True)),
            ("checked_at", models.DateTimeField(blank=True, null=True)),
            ("network_reference", models.CharField(blank=True, default="", max_length=64)),
            ("refused_until", models.DateTimeField(blank=True, null=True)),
        ],
        options={
            "indexes": [
                models.Index(F("fingerprint"), name="card_fingerprint"),
                models.Index(F("cvc_expires_at"), condition=Q(("sealed_cvc__isnull", False)), name="card_cvc_to_destroy"),
                models.Index(F("number_expires_at"), condition=Q(("number_expires_at__isnull", False)), name="card_number_to_destroy"),
                models.Index(F("expiring_at"), condition=Q(("expiring_at__isnull", False)), name="card_expiring"),
                models.Index(F("last4"), name="card_last4"),
                models.Index(F("merchant"), F("fingerprint"), F("refused_until"), condition=Q(("refused_until__isnull", False)), name="card_refused"),
            ],
        },
    ),
    migrations.CreateModel(
        name="DataKey",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("kek", models.CharField(max_length=200)),
            ("wrapped", models.BinaryField()),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("purpose", models.CharField(choices=[("card", "Card"), ("secret", "Secret")], max_length=6)),
            ("retired_at", models.DateTimeField(blank=True, null=True)),
            ("emptied_at", models.DateTimeField(blank=True, null=True)),
            ("destroyed_at", models.DateTimeField(blank=True, null=True)),
        ],
        options={
            "indexes": [
                models.Index(F("purpose"), models.OrderBy(F("created_at"), descending=True), name="data_key_newest"),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(("purpose__in", ["card", "secret"])), name="data_key_purpose_is_known"),
                models.CheckConstraint(condition=Q(("emptied_at__isnull", True), ("retired_at__isnull", False), _connector="OR"), name="data_key_retired_before_emptied"),
                models.CheckConstraint(condition=Q(("destroyed_at__isnull", True), ("emptied_at__isnull", False), _connector="OR"), name="data_key_emptied_before_destroyed"),
                models.CheckConstraint(
                    condition=Q(Q(("destroyed_at__isnull", True), Q(("wrapped", b""), _negated=True)), Q(("destroyed_at__isnull", False), ("wrapped", b"")), _connector="OR"),
                    name="data_key_is_wrapped_until_destroyed",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="CvcKey",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("kek", models.CharField(max_length=200)),
            ("wrapped", models.BinaryField()),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
        ],
        options={
            "abstract": False,
        },
    ),
    # Never in the write-ahead log, on a standby or in a base backup, and emptied by a crash.
    migrations.RunSQL("ALTER TABLE payments_cvckey SET UNLOGGED"),
    migrations.CreateModel(
        name="Block",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("fingerprint", models.BinaryField(max_length=32, null=True)),
            ("card", models.CharField(blank=True, default="", max_length=20)),
            ("bin", models.CharField(blank=True, default="", max_length=6, validators=[RegexValidator(r"\A[0-9]{6}\Z", "Give the first six digits of the cards.")])),
            ("email", models.CharField(blank=True, default="", max_length=254)),
            ("address", models.CharField(blank=True, default="", max_length=50)),
            ("reason", models.CharField(max_length=500, validators=[payments.models.operators.reasons.free_of_secrets])),
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("lifted_at", models.DateTimeField(blank=True, null=True)),
            ("lifted_because", models.CharField(blank=True, default="", max_length=500, validators=[payments.models.operators.reasons.free_of_secrets])),
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
