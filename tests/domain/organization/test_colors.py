"""Readable text on a brand's colour, and a brand's colour as readable text. Source: WCAG 2.2, contrast."""

from hypothesis import given
from hypothesis import strategies as st

from domain.organization import colors

_COLORS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")
_LIGHT, _DARK = ("#f5f7f4", "#ffffff", "#ebefeb"), ("#0f1411", "#171e1a", "#0b0f0d")


@given(_COLORS)
def test_any_colour_is_made_readable_on_light_and_dark(color):
    for backgrounds in (_LIGHT, _DARK):
        readable = colors.make_readable(color, on=backgrounds)
        assert all(colors.contrast(readable, background) >= 4.5 for background in backgrounds)
        assert colors.contrast(readable, colors.text_on(readable)) >= 4.5


def test_readable_colour_is_unchanged():
    assert colors.make_readable("#0a6847", on=_LIGHT) == "#0a6847"
    assert colors.make_readable("#62d2a5", on=_DARK) == "#62d2a5"


def test_unreadable_colour_is_changed_no_more_than_needed():
    darker = colors.make_readable("#ffee00", on=_LIGHT)

    assert darker not in ("#ffee00", "#000000")
    assert min(colors.contrast(darker, background) for background in _LIGHT) < 5
