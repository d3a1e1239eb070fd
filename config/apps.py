import threading

from django.apps import AppConfig

from config.logging import log_what_ends_a_thread


class ConfigApp(AppConfig):
    """Carries the boot checks and the commands that start or inspect the whole house."""

    name = "config"

    def ready(self) -> None:
        from config import checks  # noqa: F401  registers the boot checks
        from payments.api.answers import attempt_answer
        from payments.domain.charging import record_outcome

        # Whatever process records an outcome stores the answer that the API gives.
        record_outcome.use_renderer(attempt_answer)

        threading.excepthook = log_what_ends_a_thread
