import django.db.models.functions.text
import payments.clock
import payments.ids
import payments.db.fields
from django.db import migrations, models
from django.db.models import F, Q

from payments.migrations.row_security import readable


class Migration(migrations.Migration):
    initial = True
    dependencies = [("payments", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="Customer",
            fields=[
                ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("livemode", models.BooleanField()),
                ("email", models.CharField(max_length=254, verbose_name="email")),
                ("mobile_number", models.CharField(blank=True, default="", max_length=25, verbose_name="mobile number")),
                ("description", models.CharField(max_length=255, verbose_name="description")),
                ("metadata", payments.db.fields.VerbatimJSONField(blank=True, null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(default=payments.clock.now, editable=False, verbose_name="created at")),
                ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
                ("deleted_at", models.DateTimeField(blank=True, null=True)),
                ("merchant", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ],
            options={
                "verbose_name": "customer", "verbose_name_plural": "customers",
                "indexes": [
                    models.Index(F("merchant"), F("livemode"), F("id"), condition=Q(("deleted_at__isnull", True)), name="customer_of_merchant"),
                    models.Index(F("merchant"), F("livemode"), F("email"), F("id"), condition=Q(("deleted_at__isnull", True)), name="customer_by_email"),
                    models.Index(django.db.models.functions.text.Upper("email"), condition=Q(("deleted_at__isnull", True)), name="customer_any_email"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(
                            Q(("deleted_at__isnull", True), Q(("email", ""), _negated=True), Q(("description", ""), _negated=True)),
                            Q(("deleted_at__isnull", False), ("description", ""), ("email", ""), ("metadata__isnull", True), ("mobile_number", "")),
                            _connector="OR",
                        ),
                        name="customer_nothing_personal_once_deleted",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CustomerSource",
            fields=[
                ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("attached_at", models.DateTimeField(default=payments.clock.now, editable=False)),
                ("detached_at", models.DateTimeField(blank=True, null=True)),
                ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
                ("customer", models.ForeignKey(on_delete=models.PROTECT, related_name="ties", to="customers.customer")),
                ("source", models.OneToOneField(on_delete=models.PROTECT, related_name="+", to="payments.source")),
            ],
            options={"verbose_name": "customer source", "verbose_name_plural": "customer sources"},
        ),
        readable(["customers_customer", "customers_customersource"]),
    ]
