import threading

from django.apps import AppConfig

from config.logging import log_what_ends_a_thread


class ConfigApp(AppConfig):
    """Carries the boot checks and the commands that start or inspect the whole house."""

    name = "config"

    def ready(self) -> None:
        from config import checks  # noqa: F401  registers the boot checks

        threading.excepthook = log_what_ends_a_thread
