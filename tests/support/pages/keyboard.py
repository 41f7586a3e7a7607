"""What somebody does with keys alone."""

from playwright.sync_api import Locator, expect

_MOST = 30


def choose_by_keyboard(selecting: Locator, value: str) -> None:
    """Go down in a list that is folded until it has a value.

    Letters typed there lead to an option only if one follows the other within a second, which no busy machine promises.
    """
    selecting.focus()
    for _ in range(_MOST):
        if selecting.input_value() == value:
            return
        selecting.press("ArrowDown")
    expect(selecting).to_have_value(value)
