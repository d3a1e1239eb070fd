"""The two ways to work in a browser: pointing at things, and by the keyboard alone."""

from typing import Protocol

from playwright.sync_api import Locator, Page, expect

# More than any page has things to stop at.
MOST_STOPS = 200
# On a page that was just opened the first stop leads past header and navigation.
IS_PAST_THE_SKIP_LINK = "element => document.activeElement === document.body && element.closest('main') !== null"


class Hand(Protocol):
    def press(self, thing: Locator) -> None:
        """Follows a link, presses a button, ticks a box."""

    def write(self, field: Locator, text: str) -> None:
        """Has nothing but `text` in the field."""


class Mouse:
    def press(self, thing: Locator) -> None:
        thing.click()

    def write(self, field: Locator, text: str) -> None:
        field.fill(text)


class Counted(Mouse):
    """Counts what a task costs: what is pressed, and the fields that are written into."""

    def __init__(self) -> None:
        self.clicks = self.fields = 0

    def press(self, thing: Locator) -> None:
        self.clicks += 1
        super().press(thing)

    def write(self, field: Locator, text: str) -> None:
        self.fields += 1
        super().write(field, text)


class Keyboard:
    """Nothing is pointed at: what is wanted is reached by Tab, and it shows that it has the focus."""

    def press(self, thing: Locator) -> None:
        self._go_to(thing)
        thing.page.keyboard.press("Enter")

    def write(self, field: Locator, text: str) -> None:
        self._go_to(field)
        field.page.keyboard.press("ControlOrMeta+A")
        field.page.keyboard.insert_text(text)

    def _go_to(self, thing: Locator) -> None:
        expect(thing).to_be_visible()
        keys = thing.page.keyboard
        if thing.evaluate(IS_PAST_THE_SKIP_LINK):
            keys.press("Tab")
            keys.press("Enter")
        for _ in range(MOST_STOPS):
            if thing.evaluate("element => element.matches(':focus-visible')"):
                return
            keys.press("Tab")
        raise AssertionError(f"Tab does not come to {thing}")


HANDS: dict[str, type[Mouse] | type[Keyboard]] = {"mouse": Mouse, "keyboard": Keyboard}


def announced(tab: Page) -> Locator:
    """Return the message about the last action."""
    return tab.locator("ul.messagelist")
