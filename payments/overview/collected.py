"""What payment requests have collected by themselves, by the try that was paid."""

from collections.abc import Sequence

from django.db.models import Count, Sum

from payments.models import Charge, PaymentRequest
from payments.models.merchants.merchant_access import Limit, within
from payments.overview.days import Days


def collected_of(livemode: bool, days: Days, currency: str, limit: Limit = None) -> Sequence[tuple[int, int, int]]:
    """Return for each number of a try: how many of the requests that were made on `days` it has paid, and their sum.

    The sum is in the smallest unit of `currency`.
    """
    paid = PaymentRequest.objects.filter(
        within(limit, "merchant_id"),
        checkout__id__range=(days.first_id, days.next_id),
        livemode=livemode,
        collect_ended=PaymentRequest.Ended.PAID,
        checkout__currency=currency,
        checkout__charges__initiator=Charge.Initiator.MERCHANT,
        checkout__charges__captured=True,
    )
    sums = paid.values("collect_tries").annotate(count=Count("pk"), amount=Sum("checkout__charges__amount"))
    return list(sums.order_by("collect_tries").values_list("collect_tries", "count", "amount"))
