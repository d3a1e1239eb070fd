"""The benchmark from beginning to end."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from config.benchmark.figures import Figures, Spread, spreads
from config.benchmark.floors import Pgbench
from config.benchmark.making import Maker
from config.benchmark.options import Options
from config.benchmark.report import Report
from config.benchmark.sending import Load
from config.benchmark.service import Service, scratch_service
from config.benchmark.side_servers import SideServer, plain_server, usual_server
from config.benchmark.verbs import Beside, Verb
from config.embedded.places import Places
from config.quickstart.supervisor import Supervisor

# Each is measured by being called, once in every round.
Contenders = Mapping[str, Callable[[], Figures]]


def run(options: Options, supervisor: Supervisor) -> Report:
    """Start the service, measure the chosen parts and their floors in turn, and hold the books against the answers.

    Raises Stopped, or Failed or EmbeddedError with the reason.
    """
    _say("starting kaha on a scratch database")
    with scratch_service(supervisor) as service:
        load = Load(service.places.data, options.connections, supervisor)
        maker = Maker(load, service.port, service.secret_key)
        pids = {"server": service.server_pid, "postgres": service.postgres_pid}
        verbs = [Verb(part, maker, pids) for part in options.parts]
        for verb in verbs:
            verb.warm_up()
        with _contenders(verbs, service, options, supervisor) as contenders:
            figures = _in_turn(contenders, options.rounds)
        # Its module needs the settings, which lead to the service's database now.
        from config.benchmark import books

        _say("looking at the books")
        return Report(options, figures, books.check({verb.part.name: verb.ids for verb in verbs}, maker.charges))


@contextmanager
def _contenders(
    verbs: Sequence[Verb], service: Service, options: Options, supervisor: Supervisor
) -> Iterator[Contenders]:
    """Each part, what stands beside it, and the scripts of pgbench that are floors of theirs."""
    seconds = options.seconds
    pgbench = Pgbench(service.places, service.postgres_pid, options.connections, seconds, supervisor)
    pgbench.make_schema()
    contenders: dict[str, Callable[[], Figures]] = {}
    with _side_servers(verbs, service.places, supervisor) as servers:
        for verb in verbs:
            contenders[verb.part.name] = partial(verb.measure, seconds)
            for name in verb.part.beside:
                contenders[f"{verb.part.name}/{name}"] = partial(Beside(verb, servers[name]).measure, seconds)
        for script in {verb.part.floor: None for verb in verbs if verb.part.floor}:
            contenders[script] = partial(pgbench.measure, script)
        yield contenders


@contextmanager
def _side_servers(verbs: Sequence[Verb], places: Places, supervisor: Supervisor) -> Iterator[Mapping[str, SideServer]]:
    """Those that stand beside some of `verbs`."""
    samples = {verb.part.name: verb.sample for verb in verbs}
    with ExitStack() as cleanup:
        servers = {"plain": cleanup.enter_context(plain_server(places, samples, supervisor))}
        if any("usual" in verb.part.beside for verb in verbs):
            servers["usual"] = cleanup.enter_context(usual_server(places, supervisor))
        yield servers


def _in_turn(contenders: Contenders, rounds: int) -> dict[str, dict[str, Spread]]:
    """What each came to, measure by measure; all have had a turn before any has the next."""
    figures: dict[str, list[Figures]] = {name: [] for name in contenders}
    for number in range(1, rounds + 1):
        for name, measure in contenders.items():
            figures[name].append(measure())
            _say(f"round {number} of {rounds}: {name}, {figures[name][-1].per_second:.0f} per second")
    return {name: spreads(measured) for name, measured in figures.items()}


def _say(text: str) -> None:
    print(f"kaha: {text}", file=sys.stderr)
