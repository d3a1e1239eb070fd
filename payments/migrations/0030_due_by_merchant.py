"""Due notifications are found by their merchant first, so that a claim can share its places among merchants."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0029_approval_requests"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="notification", name="notification_due_of_receiver"),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                models.F("merchant"),
                models.F("livemode"),
                models.F("receiver"),
                models.F("due_at"),
                models.F("id"),
                condition=models.Q(("due_at__isnull", False)),
                name="notification_due_of_receiver",
            ),
        ),
    ]
