from django.db import models

from tests.benchmark.peers.textbook.models import OWNER, Charge


class LedgerEntry(models.Model):
    charge = models.ForeignKey(Charge, models.PROTECT)
    account = models.CharField(max_length=32)
    amount = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)


class Event(models.Model):
    owner = models.ForeignKey(OWNER, models.PROTECT)
    type = models.CharField(max_length=32)
    payload = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)


class OutboxMessage(models.Model):
    """An event that is still to be delivered."""

    event = models.OneToOneField(Event, models.CASCADE)
    due_at = models.DateTimeField(auto_now_add=True, db_index=True)
