"""Histories drawn by chance: what is done to a source, what dies meanwhile, and what a payer decides."""

from random import Random

from payments.domain.merchants.merchants import NewMerchant
from payments.failpoints import Failpoint
from tests.client import ANSWER_LOST, APPROVED, CHALLENGED, DECLINED, NEVER_ARRIVES, REFUNDS_FAIL, REFUNDS_WAIT
from tests.faults.jobs import Fault, Kill, Stall
from tests.faults.life import Kind, Life
from tests.faults.proxy import Cut
from tests.faults.verbs import UNASKED, VERBS, Verb, possible
from tests.faults.world import World

SPECIAL_CARDS = (CHALLENGED, DECLINED, REFUNDS_FAIL, REFUNDS_WAIT, ANSWER_LOST, NEVER_ARRIVES)
OTHER_TYPES = ("gcash", "qrph", "bpi", "unionbank")
ORDINARY = (Kind(APPROVED), Kind(APPROVED, vaulted=True), Kind(CHALLENGED))
KINDS = (*ORDINARY * 3, *map(Kind, SPECIAL_CARDS), *(Kind(type=name) for name in OTHER_TYPES))
LOST = (Kill(Failpoint.ANSWERED), *Cut)
DECISIONS = ("pay", "pay", "pay", "fail", "cancel")


def run_history(world: World, shop: NewMerchant, random: Random) -> Life:
    """Run a whole life of one source, chosen by `random`."""
    kind = random.choice(KINDS)
    life = Life(
        world,
        shop,
        random,
        kind,
        amount=random.randint(100, 99_999),
        capture=kind.type != "card" or random.random() < 0.5,
        announced=random.random() < 0.5,
    )
    _do_next(life, "charge")
    while random.random() < 0.75 and (verbs := possible(life.charge)):
        _do_next(life, random.choice(verbs))
    return life


def _do_next(life: Life, verb: str) -> None:
    life.decision = life.random.choice(DECISIONS)
    fault = _fault(life, verb)
    is_found_out_under_fire = VERBS[verb].asks_provider and life.random.random() < 0.2
    life.do(verb, fault, then=_fault(life, "recover") if is_found_out_under_fire else None)


def _fault(life: Life, verb: str) -> Fault:
    """None once in a while, else a stall, a cut of what can be cut, or a kill at a step."""
    chance = life.random.random()
    if chance < 0.05:
        return None
    if chance < 0.15 and VERBS[verb].stalls:
        return _stall(life.random, VERBS[verb])
    if VERBS[verb].asks_provider and chance < 0.45:
        return life.random.choice(list(Cut))
    steps = [step for step in VERBS[verb].steps if life.announced or step is not Failpoint.WAKING_WORKER]
    return Kill(life.random.choice(steps), life.random.choice([1] * 9 + [2]))


def _stall(random: Random, verb: Verb) -> Stall:
    """Choose whether a process that stalls before its call is killed after it, or gets no answer."""
    step = random.choice(verb.stalls)
    is_lost = step in UNASKED and random.random() < 0.5
    return Stall(step, then=random.choice(LOST) if is_lost else None)
