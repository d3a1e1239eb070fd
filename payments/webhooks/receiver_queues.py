"""Receiver queues: which claimed webhook is sent next, so that no merchant and no slow receiver holds up the others.

Places are shared by merchant and mode first, then by receiver. Receivers whose last try took long have a bulkhead of
their own and cannot take a place of the others. All of it holds for one worker process: each shares its own places.
"""

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from typing import NamedTuple

from payments.webhooks.claims import Claimed, MerchantShare, Owner, ReceiverKey, Shares
from payments.webhooks.signing_secrets import Signers

SENDS_AT_ONCE = 500
# Of these, what receivers whose last try took long may take; the others have the rest for themselves.
SLOW_SENDS_AT_ONCE = 100
SENDS_AT_ONCE_TO_RECEIVER = 50
SENDS_AT_ONCE_TO_SLOW_RECEIVER = 2
# Claimed and not ended, of receivers that are in time and of slow ones.
CLAIMED_LIMIT = 4000
SLOW_CLAIMED_LIMIT = 800
SLOW_RECEIVERS_LIMIT = 1000


class SlowReceivers:
    """Remembers the receivers whose last try took long, the latest SLOW_RECEIVERS_LIMIT of them.

    In memory, because a worker that has forgotten it learns it again by one try, which costs the merchant's own places
    alone; a row for each would be written at every failure, and grow with every URL that a merchant makes up.
    """

    def __init__(self) -> None:
        self._keys: OrderedDict[ReceiverKey, None] = OrderedDict()

    @property
    def count(self) -> int:
        return len(self._keys)

    def __contains__(self, key: ReceiverKey) -> bool:
        return key in self._keys

    @property
    def keys(self) -> list[ReceiverKey]:
        return list(self._keys)

    def note(self, key: ReceiverKey, slow: bool) -> None:
        """Note how the last try to this receiver went."""
        self._keys.pop(key, None)
        if slow:
            self._keys[key] = None
        if len(self._keys) > SLOW_RECEIVERS_LIMIT:
            self._keys.popitem(last=False)


@dataclass(slots=True, eq=False)
class ReceiverQueue:
    """What waits for one receiver, and how many tries to it are under way."""

    key: ReceiverKey
    owner: Owner
    slow: bool
    waiting: deque[tuple[Claimed, Signers]] = field(default_factory=deque)
    under_way: int = 0
    # The queue of a bulkhead that it stands in while another try may begin.
    queue: "Queue | None" = None

    @property
    def is_ready(self) -> bool:
        limit = SENDS_AT_ONCE_TO_SLOW_RECEIVER if self.slow else SENDS_AT_ONCE_TO_RECEIVER
        return bool(self.waiting) and self.under_way < limit


Queue = OrderedDict[ReceiverQueue, None]


@dataclass(slots=True, eq=False)
class Holding:
    """The places that one merchant has in a bulkhead, and its receivers that wait for one."""

    held: int = 0
    # Those without a try under way, and the others.
    idle: Queue = field(default_factory=OrderedDict)
    busy: Queue = field(default_factory=OrderedDict)


class Bulkhead:
    """A number of places, of which each merchant may hold as many as are left free.

    So `n` merchants that take all they can leave the next one an `n + 1`th of the places. A receiver that has a place
    already gets another only while its merchant holds fewer than half of that: the rest is for its other receivers.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        # In turn.
        self._holdings: OrderedDict[Owner, Holding] = OrderedDict()

    def put(self, receiver: ReceiverQueue) -> None:
        """Put `receiver` where it belongs by what waits in it and by what is under way."""
        holding = self._holdings.get(receiver.owner) or self._holdings.setdefault(receiver.owner, Holding())
        queue = (holding.busy if receiver.under_way else holding.idle) if receiver.is_ready else None
        if queue is not receiver.queue:
            self.remove(receiver)
            receiver.queue = queue
            if queue is not None:
                queue[receiver] = None

    def remove(self, receiver: ReceiverQueue) -> None:
        if receiver.queue is not None:
            del receiver.queue[receiver]
            receiver.queue = None

    def take(self) -> ReceiverQueue | None:
        """Take a place for the receiver whose turn it is; None where none may have one."""
        for _ in range(len(self._holdings) if self._free else 0):
            owner, holding = next(iter(self._holdings.items()))
            self._holdings.move_to_end(owner)
            queue = holding.idle or holding.busy
            if queue and holding.held < (self._free if holding.idle else self._free // 2):
                self._free -= 1
                holding.held += 1
                receiver = next(iter(queue))
                queue.move_to_end(receiver)
                return receiver
            if not queue and not holding.held:
                del self._holdings[owner]
        return None

    def give_back(self, receiver: ReceiverQueue) -> None:
        self._free += 1
        self._holdings[receiver.owner].held -= 1


class TakenPlace(NamedTuple):
    """A place that was taken, and the webhook that is sent in it."""

    bulkhead: Bulkhead
    receiver: ReceiverQueue
    claimed: Claimed
    signers: Signers


class ReceiverQueues:
    """All claimed webhooks: those that wait, and those under way in each bulkhead."""

    def __init__(self, slow: SlowReceivers) -> None:
        self._slow = slow
        self._queues: dict[ReceiverKey, ReceiverQueue] = {}
        self._in_time = Bulkhead(SENDS_AT_ONCE - SLOW_SENDS_AT_ONCE)
        self._late = Bulkhead(SLOW_SENDS_AT_ONCE)
        self.claimed_count = 0

    def add(self, claimed: Claimed, signers: Signers) -> None:
        key = (claimed.merchant_id, claimed.livemode, claimed.receiver)
        receiver = self._queues.get(key)
        if receiver is None:
            receiver = self._queues[key] = ReceiverQueue(key, key[:2], key in self._slow)
        receiver.waiting.append((claimed, signers))
        self.claimed_count += 1
        self._bulkhead_of(receiver).put(receiver)

    def take(self) -> TakenPlace | None:
        """Take the next webhook that may be sent, fast receivers first; None where none has a place."""
        for bulkhead in (self._in_time, self._late):
            receiver = bulkhead.take()
            if receiver:
                claimed, signers = receiver.waiting.popleft()
                receiver.under_way += 1
                bulkhead.put(receiver)
                return TakenPlace(bulkhead, receiver, claimed, signers)
        return None

    def end(self, place: TakenPlace, slow: bool | None) -> None:
        """Give the place of `turn` back; `slow` says how the try went, None where none was made."""
        receiver = place.receiver
        place.bulkhead.give_back(receiver)
        receiver.under_way -= 1
        self.claimed_count -= 1
        if slow is not None and slow != receiver.slow:
            self._bulkhead_of(receiver).remove(receiver)
            receiver.slow = slow
            self._slow.note(receiver.key, slow)
        self._bulkhead_of(receiver).put(receiver)
        if not receiver.waiting and not receiver.under_way:
            del self._queues[receiver.key]

    def give_up_waiting(self) -> list[Claimed]:
        """Release those that have not begun."""
        given_up = [claimed for receiver in self._queues.values() for claimed, _ in receiver.waiting]
        for receiver in self._queues.values():
            receiver.waiting.clear()
            self._bulkhead_of(receiver).remove(receiver)
        self._queues = {key: receiver for key, receiver in self._queues.items() if receiver.under_way}
        self.claimed_count -= len(given_up)
        return given_up

    def shares(self) -> Shares:
        """Return what the next claim has to know: whose share of the bulkheads is full."""
        held: Counter[MerchantShare] = Counter()
        for receiver in self._queues.values():
            held[MerchantShare(*receiver.owner, receiver.slow)] += len(receiver.waiting) + receiver.under_way
        slow_room = SLOW_CLAIMED_LIMIT - sum(count for share, count in held.items() if share.slow)
        room = CLAIMED_LIMIT - (held.total() - (SLOW_CLAIMED_LIMIT - slow_room))
        full = [share for share, count in held.items() if count >= (slow_room if share.slow else room)]
        return Shares(max(room, 0), slow_room > 0, full, self._slow.keys)

    def _bulkhead_of(self, receiver: ReceiverQueue) -> Bulkhead:
        return self._late if receiver.slow else self._in_time
