"""What a company would write itself: an app as the tutorials of Django and DRF have them, and as production needs it.

Charges are claimed by their keys and answered with what kaha answers with.
"""
