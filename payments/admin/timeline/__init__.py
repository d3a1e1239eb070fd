"""The timeline: one page with everything known about a charge, in order."""

from payments.admin.timeline.page import TimelinePage

__all__ = ["TimelinePage"]
