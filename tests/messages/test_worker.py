"""A real worker, a real Redis and a real mail server."""

from pathlib import Path

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.models import PayerMessage
from tests.client import Api, made
from tests.inbox.smtp import Server
from tests.messages.letters import OWNER, captured, put_into_outbox
from tests.support.processes import PATIENCE_SECONDS
from tests.support.worker import Worker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_a_worker_sends_what_a_request_or_another_process_wrote(shop: NewMerchant, api: Api, tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    with Server() as server:
        try:
            worker.start(EMAIL_URL=f"smtp://127.0.0.1:{server.port}", EMAIL_FROM="receipts@pay.example")
            charge = api.charge_source(api.source(owner=OWNER))
            made(api.post(f"/charges/{charge['id']}/refund", {"amount": 100}))
            put_into_outbox(captured(shop.merchant))
            waiting = PayerMessage.objects.filter(state=PayerMessage.State.WAITING)
            assert wait_until(lambda: not waiting.exists(), PATIENCE_SECONDS)
        finally:
            worker.kill()
    assert [mail["To"] for mail in server.mails] == ["juan@example.com"]
    states = PayerMessage.objects.order_by("id").values_list("kind", "livemode", "state")
    assert list(states) == [("receipt", False, "kept"), ("refund_receipt", False, "kept"), ("receipt", True, "sent")]
