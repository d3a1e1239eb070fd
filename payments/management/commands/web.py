from functools import partial
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.module_loading import import_string

from payments import log_start
from payments.health.metrics import server
from payments.management import arguments
from payments.web.server import PROCESSES, serve

APPLICATION = "config.asgi.application"


class Command(BaseCommand):
    help = "Runs the web server until SIGTERM; requests under way are then answered. A proxy in front of it ends TLS."
    # A process with bad settings would end at once, so they are checked before any is started.
    requires_system_checks = ("configuration",)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)")
        parser.add_argument(
            "--port", type=arguments.whole_number, default=8000, help="the port to listen on (default: 8000)"
        )
        parser.add_argument(
            "--processes",
            type=arguments.whole_number,
            default=PROCESSES,
            help=f"processes that answer requests (default: {PROCESSES})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        log_start("web server")
        if settings.METRICS_ADDRESS:
            try:
                server.serve(settings.METRICS_ADDRESS)
            except OSError as error:
                raise CommandError(f"METRICS_ADDRESS: nothing can listen there ({error.strerror}).") from None
        serve(partial(import_string, APPLICATION), options["host"], options["port"], options["processes"])
