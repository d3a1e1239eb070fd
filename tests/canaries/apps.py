from django.apps import AppConfig


class CanariesConfig(AppConfig):
    name = "tests.canaries"

    def ready(self) -> None:
        """Replace the simulator with one that knows marked cards."""
        from payments.providers.registry import PROVIDERS
        from tests.canaries.simulator import MarkedSimulator

        PROVIDERS["simulator"] = MarkedSimulator()
