"""The forms of dates and numbers of pages in English: British ones."""

from django.conf.locale.en_GB.formats import *  # noqa: F403
