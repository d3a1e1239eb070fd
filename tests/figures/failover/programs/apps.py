"""The simulator that kaha's hosts ask over the network."""

from django.apps import AppConfig
from django.conf import settings


class RemoteSimulatorConfig(AppConfig):
    name = "tests.figures.failover.programs"
    label = "remote_simulator"

    def ready(self) -> None:
        from payments.providers import registry
        from tests.faults.connector import RemoteSimulator

        port = int(settings.PROVIDER_PORT)
        registry.PROVIDERS[registry.SIMULATOR] = RemoteSimulator(port, host=settings.PROVIDER_HOST)
