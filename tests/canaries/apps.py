from django.apps import AppConfig


class CanariesConfig(AppConfig):
    name = "tests.canaries"

    def ready(self) -> None:
        """Puts the simulator that knows marked cards in the place of the other."""
        from payments.providers.registry import PROVIDERS
        from tests.canaries.simulator import MarkedSimulator

        PROVIDERS["simulator"] = MarkedSimulator()
