"""Text on a brand's colour, and a brand's colour as text. Source: WCAG 2.2, contrast."""

from hypothesis import given
from hypothesis import strategies as st

from domain.organization import colors

_COLORS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")
_LIGHT, _DARK = ("#f5f7f4", "#ffffff", "#ebefeb"), ("#0f1411", "#171e1a", "#0b0f0d")


@given(_COLORS)
def test_every_colour_can_be_read_on_light_and_on_dark(color):
    for grounds in (_LIGHT, _DARK):
        found = colors.make_readable(color, on=grounds)
        assert all(colors.contrast(found, ground) >= 4.5 for ground in grounds)
        assert colors.contrast(found, colors.text_on(found)) >= 4.5


def test_a_colour_that_can_be_read_stays_as_it_is():
    assert colors.make_readable("#0a6847", on=_LIGHT) == "#0a6847"
    assert colors.make_readable("#62d2a5", on=_DARK) == "#62d2a5"


def test_one_that_cannot_is_changed_no_more_than_needed():
    darker = colors.make_readable("#ffee00", on=_LIGHT)

    assert darker not in ("#ffee00", "#000000")
    assert min(colors.contrast(darker, ground) for ground in _LIGHT) < 5
