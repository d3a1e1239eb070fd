from django.db import migrations

from payments.migrations.row_security import ROLE, people, readable, readable_whole


class Migration(migrations.Migration):
    """Lets the merchants' site read the rows of its merchant; see `payments.db.backend.row_security`."""

    dependencies = [("payments", "0001_initial")]
    operations = [
        readable(["payments_merchant"], column="id"),
        readable(
            f"payments_{name}"
            for name in (
                *("accountday", "apikey", "apirequest", "approvalrequest", "attempt", "card", "charge", "checkout"),
                *("daytotal", "dispute", "event", "logleaf", "merchantaccess", "payermessage", "paymentlink", "paymentrequest"),
                *("payout", "payoutaccount", "payoutschedule", "posting", "refund", "source", "webhook"),
                *("payoutpart", "runningbalance", "settlement", "settlementtotal"),
                *("webhookattempt", "webhookendpoint", "webhooksecret"),
                *("approvallimit", "brandpicture", "evidence", "pagevisit"),
            )
        ),
        people(),
        # Which days have totals, and not how much is pending on them.
        migrations.RunSQL(f"GRANT SELECT (day) ON payments_summedday TO {ROLE};"),
        # Which days are summed up, and not how much was posted on them.
        migrations.RunSQL(f"GRANT SELECT (day) ON payments_ledgerday TO {ROLE};"),
        # A search has its merchant as a condition, which no index would serve below row-level security.
        # The heads of the log are public.
        readable_whole(["payments_loghead"]),
        readable_whole(["payments_searchentry", "payments_searchprogress", "payments_savedview", "django_content_type"]),
    ]
