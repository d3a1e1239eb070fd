"""The places in which webhooks are sent, without a database: who takes how many, and gives them back.

The numbers of places are written out, because a test that reads them from the code is content with any.
"""

from uuid import UUID, uuid4

from payments import clock
from payments.webhooks.claims import Claimed
from payments.webhooks.receiver_queues import ReceiverQueues, SlowReceivers


def claimed_for(merchant: UUID, receiver: str) -> Claimed:
    return Claimed(uuid4(), uuid4(), merchant, False, None, receiver, receiver, b"", 0, None, clock.now())


def test_however_many_receivers_are_slow_they_leave_four_hundred_places_to_the_others() -> None:
    slow, merchants = SlowReceivers(), [uuid4() for _ in range(300)]
    for merchant in merchants:
        slow.note((merchant, False, "https://slow.example:443"), slow=True)
    queues = ReceiverQueues(slow)
    for merchant in merchants:
        queues.add(claimed_for(merchant, "https://slow.example:443"), {})
        queues.add(claimed_for(merchant, "https://slow.example:443"), {})
    assert len(list(iter(queues.take, None))) == 100
    for merchant in [uuid4() for _ in range(500)]:
        queues.add(claimed_for(merchant, "https://quick.example:443"), {})
    assert len(list(iter(queues.take, None))) == 400


def test_a_receiver_with_two_webhooks_under_way_gives_both_places_back() -> None:
    queues, merchant = ReceiverQueues(SlowReceivers()), uuid4()
    for _ in range(2):
        queues.add(claimed_for(merchant, "https://quick.example:443"), {})
    for place in list(iter(queues.take, None)):
        queues.end(place, slow=False)
    assert queues.claimed_count == 0
