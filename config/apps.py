import threading

from django.apps import AppConfig

from config.logs.setup import log_what_ends_a_thread
from payments.concurrency.garbage import begin_to_load, end_loading

# Django loads the models next.
begin_to_load()


class ConfigApp(AppConfig):
    """Registers the boot checks and connects the API's renderer to the domain, once all models are loaded."""

    name = "config"

    def ready(self) -> None:
        from config.boot import checks, session_check  # noqa: F401  register the boot checks
        from payments.api.responses.stored_answers import attempt_answer
        from payments.domain.charging import record_outcome

        # Every process that records an outcome stores the answer that the API gives.
        record_outcome.use_renderer(attempt_answer)

        threading.excepthook = log_what_ends_a_thread
        end_loading()
