"""Acts with the keyboard alone."""

from playwright.sync_api import Locator, expect

_MAX_PRESSES = 30


def choose_by_keyboard(select: Locator, value: str) -> None:
    """Press the down key in a closed select element until it has a value.

    Typing letters would select an option only if they follow within a second, which a busy machine may not manage.
    """
    select.focus()
    for _ in range(_MAX_PRESSES):
        if select.input_value() == value:
            return
        select.press("ArrowDown")
    expect(select).to_have_value(value)
