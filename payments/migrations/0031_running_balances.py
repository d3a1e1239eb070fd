"""A merchant's balance is kept by the postings themselves, and read without them."""

import django.db.models.deletion
from django.db import migrations, models

ACCOUNTS = (
    "provider_hold",
    "merchant_hold",
    "provider_receivable",
    "bank",
    "merchant_pending",
    "merchant_payable",
    "refunds_in_transit",
    "reversals",
    "fees",
)
COLUMNS = ", ".join(ACCOUNTS)
SUMS = ", ".join(f"coalesce(sum(amount) FILTER (WHERE account = '{account}'), 0)" for account in ACCOUNTS)
ADDED = ", ".join(f"{account} = kept.{account} + excluded.{account}" for account in ACCOUNTS)
OWNER = "merchant_id, livemode, currency"
# A statement writes one row for each merchant, mode and currency that it posts for, always in the same order, so no two
# statements wait for each other. The rows' index holds no sum, and space is left on their pages, so an update writes no
# index.
KEEP = f"""
ALTER TABLE payments_runningbalance SET (fillfactor = 50);
CREATE FUNCTION payments_add_to_balances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payments_runningbalance AS kept ({OWNER}, shard, {COLUMNS})
    SELECT {OWNER}, pg_backend_pid() % 16, {SUMS} FROM posted GROUP BY {OWNER} ORDER BY {OWNER}
    ON CONFLICT ({OWNER}, shard) DO UPDATE SET {ADDED};
    RETURN NULL;
END $$;
CREATE TRIGGER payments_posting_adds_to_balances AFTER INSERT ON payments_posting
REFERENCING NEW TABLE AS posted FOR EACH STATEMENT EXECUTE FUNCTION payments_add_to_balances();
CREATE FUNCTION payments_sum_balances() RETURNS void LANGUAGE sql AS $$
    LOCK TABLE payments_posting IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM payments_runningbalance;
    INSERT INTO payments_runningbalance ({OWNER}, shard, {COLUMNS})
    SELECT {OWNER}, 0, {SUMS} FROM payments_posting GROUP BY {OWNER};
$$;
SELECT payments_sum_balances();
"""  # nosec B608 # made of constants
FORGET = """
DROP TRIGGER payments_posting_adds_to_balances ON payments_posting;
DROP FUNCTION payments_add_to_balances();
DROP FUNCTION payments_sum_balances();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0030_due_by_merchant"),
    ]

    operations = [
        migrations.CreateModel(
            name="RunningBalance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("livemode", models.BooleanField()),
                ("currency", models.CharField(max_length=3)),
                ("shard", models.PositiveSmallIntegerField()),
                *((account, models.BigIntegerField(default=0)) for account in ACCOUNTS),
                (
                    "merchant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="payments.merchant",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="runningbalance",
            constraint=models.UniqueConstraint(
                fields=("merchant", "livemode", "currency", "shard"), name="one_running_balance_per_shard"
            ),
        ),
        migrations.RunSQL(KEEP, FORGET),
        # Only balances were read by it, and each posting wrote a row of it.
        migrations.RemoveIndex(model_name="posting", name="posting_of_account"),
    ]
