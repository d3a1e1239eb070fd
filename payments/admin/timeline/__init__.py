"""The dossier: one page with all that is known of a charge, in the order in which it came to pass."""

from payments.admin.timeline.page import Dossier

__all__ = ["Dossier"]
