"""Fair shares of what a process has little of: slots, which are refused, and a queue in which callers wait."""

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock, Timer

# A turn that is followed by a pause of three times its length takes the fourth part of a thread.
PAUSE, PAUSE_MOST_SECONDS = 3, 1.0


class Slots:
    """At most `most` slots for one name, and never more than `in_all` for all names, if given.

    A name holds no more of the `in_all` than are left free. One alone has half of them, two have a third each, three a
    quarter: whatever is slow at once, the next one finds as much room as each of them has. Where a crowd of names has
    taken all, a further name gets none either. With `within`, all names together are one name of those slots too.
    """

    def __init__(self, most: int, in_all: int | None = None, within: "Slots | None" = None) -> None:
        self._within = within
        self.most, self.in_all = max(1, most), None if in_all is None else max(1, in_all)
        self._held: dict[Hashable, int] = {}
        self._taken = 0
        self._lock = Lock()

    @property
    def taken(self) -> int:
        """The slots that all names hold."""
        return self._taken

    def take(self, name: Hashable) -> bool:
        """Take a slot for `name`; False where it may hold no more."""
        with self._lock:
            held = self._held.get(name, 0)
            if self._is_full(held) or (self._within and not self._within.take(self)):
                return False
            self._held[name] = held + 1
            self._taken += 1
            return True

    def give_back(self, name: Hashable) -> None:
        with self._lock:
            held = self._held.pop(name)
            if held > 1:
                self._held[name] = held - 1
            self._taken -= 1
            if self._within:
                self._within.give_back(self)

    @contextmanager
    def slot(self, name: Hashable, refusal: Callable[[], Exception]) -> Iterator[None]:
        """Hold a slot of `name` while the block runs; raise what `refusal` returns where it may hold no more."""
        if not self.take(name):
            raise refusal()
        try:
            yield
        finally:
            self.give_back(name)

    def full(self) -> list[Hashable]:
        """Return the names that hold slots and may hold no more."""
        with self._lock:
            return [name for name, held in self._held.items() if self._is_full(held)]

    def _is_full(self, held: int) -> bool:
        return held >= self.most or (self.in_all is not None and held >= self.in_all - self._taken)


class Turn:
    """The place of one caller in a FairQueue, which it has from when it `has_begun` until it ends."""

    __slots__ = ("caller", "has_begun", "is_over", "on_begin")

    def __init__(self, caller: Hashable, on_begin: Callable[[], object]) -> None:
        self.caller, self.on_begin = caller, on_begin
        self.has_begun = self.is_over = False


class FairQueue:
    """A queue for at most `most` turns at once; callers that wait are served in rotation.

    A burst of one caller delays its own turns and hardly those of others: a caller waits for at most one turn of each
    other. Of its own the one that has waited longest is next, and none that comes later overtakes it. Where
    `leaves_room`, a caller has no more turns than are left free, and than `most_of_one`, if given; so of a crowd those
    without a turn come first.
    """

    def __init__(self, most: int, leaves_room: bool = True, most_of_one: int | None = None) -> None:
        self._slots, self._leaves_room = Slots(most_of_one or most, most if leaves_room else None), leaves_room
        # Waiting turns by caller, the next caller first.
        self._lines: dict[Hashable, deque[Turn]] = {}
        # Who may not begin a turn for now.
        self._resting = set[Hashable]()
        self._lock = Lock()

    @property
    def taken(self) -> int:
        """The turns that have begun."""
        return self._slots.taken

    @property
    def waiting(self) -> int:
        """The turns that have not."""
        with self._lock:
            return sum(map(len, self._lines.values()))

    def begin(self, caller: Hashable, on_begin: Callable[[], object]) -> Turn:
        """Return a turn that has begun, or that waits: then `on_begin` is called, by what ends another."""
        turn = Turn(caller, on_begin)
        with self._lock:
            turn.has_begun = caller not in self._lines and self._takes(caller)
            if not turn.has_begun:
                self._lines.setdefault(caller, deque()).append(turn)
        return turn

    def wait(self, caller: Hashable, timeout_seconds: float) -> Turn | None:
        """Block this thread until its turn begins, and return it; None if it does not in time."""
        gate = Lock()
        gate.acquire()
        turn = self.begin(caller, gate.release)
        if turn.has_begun or gate.acquire(timeout=timeout_seconds):
            return turn
        self.end(turn)
        return None

    def end(self, turn: Turn) -> None:
        """Give the place of `turn` to the next one, or have it leave the queue; do nothing the second time."""
        with self._lock:
            if turn.is_over:
                return
            turn.is_over = True
            if turn.has_begun:
                self._slots.give_back(self._holder(turn.caller))
            else:
                self._remove(turn)
        self._begin_waiting()

    def _begin_waiting(self) -> None:
        with self._lock:
            begun = [self._next(caller) for caller in list(self._lines) if self._takes(caller)]
        for each in begun:
            each.on_begin()

    def _takes(self, caller: Hashable) -> bool:
        holder = self._holder(caller)
        return holder not in self._resting and self._slots.take(holder)

    def _holder(self, caller: Hashable) -> Hashable:
        """Return the name by which slots are held: one for all where no room is left."""
        return caller if self._leaves_room else None

    def _next(self, caller: Hashable) -> Turn:
        """Begin the first turn of a caller, who comes last from now on."""
        line = self._lines.pop(caller)
        turn = line.popleft()
        turn.has_begun = True
        if line:
            self._lines[caller] = line
        return turn

    def _remove(self, turn: Turn) -> None:
        self._lines[turn.caller].remove(turn)
        if not self._lines[turn.caller]:
            del self._lines[turn.caller]


class PausingQueue(FairQueue):
    """A queue for one turn at a time, with a pause after each: however many wait, they take a part of one thread.

    The pause is the caller's, or where no room is left, that of all. Only one thread may use the queue. `later` calls a
    function after so many seconds.
    """

    def __init__(
        self,
        later: Callable[[float, Callable[[], None]], object],
        leaves_room: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(1, leaves_room)
        self._later, self._clock, self._began_at = later, clock, 0.0

    def end(self, turn: Turn) -> None:
        """Give the place of `turn` to the next one; its caller has a pause first."""
        if turn.has_begun and not turn.is_over:
            holder = self._holder(turn.caller)
            self._resting.add(holder)
            seconds = min(PAUSE * (self._clock() - self._began_at), PAUSE_MOST_SECONDS)
            self._later(seconds, partial(self._end_pause, holder))
        super().end(turn)

    def _takes(self, caller: Hashable) -> bool:
        if is_taken := super()._takes(caller):
            self._began_at = self._clock()
        return is_taken

    def _end_pause(self, holder: Hashable) -> None:
        self._resting.remove(holder)
        self._begin_waiting()


class BriefQueue:
    """A queue of threads for slow work, one at a time: few wait, fairly by caller, and none for longer than `seconds`.

    After each turn is a pause, as in a PausingQueue.
    """

    def __init__(self, most_waiting: int, seconds: float) -> None:
        self._queue, self._seconds = FairQueue(1, leaves_room=False), seconds
        self._places = Slots(most_waiting, most_waiting)

    @contextmanager
    def turn(
        self, caller: Hashable, refusal: Callable[[], Exception], before_wait: Callable[[], object]
    ) -> Iterator[None]:
        """Run the block in a turn of `caller`, with `before_wait` called first; raise what `refusal` returns else."""
        with self._places.slot(caller, refusal):
            before_wait()
            turn = self._queue.wait(caller, self._seconds)
        if turn is None:
            raise refusal()
        began = time.monotonic()
        try:
            yield
        finally:
            pause = Timer(min(PAUSE * (time.monotonic() - began), PAUSE_MOST_SECONDS), self._queue.end, [turn])
            pause.daemon = True
            pause.start()
