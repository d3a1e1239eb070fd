from django.db import models
from django.db.models.functions import Upper

from payments import clock


class FeeTemplate(models.Model):
    """Fees by type and currency that an operator gives to merchants; a later change of it changes no merchant."""

    title = models.CharField(max_length=60)
    # As `Merchant.rates`.
    rates = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        verbose_name = "fee template"
        constraints = [models.UniqueConstraint(Upper("title"), name="fee_template_title_once")]

    def __str__(self) -> str:
        return self.title
