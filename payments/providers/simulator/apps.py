from django.apps import AppConfig


class SimulatorConfig(AppConfig):
    name = "payments.providers.simulator"
    label = "simulator"
    verbose_name = "Simulator (its own books)"
