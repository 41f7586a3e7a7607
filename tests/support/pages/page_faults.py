"""Faults of a page in a browser: violations of WCAG 2.2 A and AA that axe finds, and text that does not fit."""

from collections.abc import Iterable, Iterator

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_AXE = Axe()
_LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_OPTIONS = {"runOnly": _LEVELS, "resultTypes": ["violations"]}
# The only rules whose result another color scheme can change.
_COLOR_OPTIONS = {
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
    "resultTypes": ["violations"],
}
_CUT_OFF = """
() => [...document.querySelectorAll('h1, h2, p, dd, dt, a, button, label, .chip')]
  .filter(element => element.offsetParent && getComputedStyle(element).display !== 'inline')
  .filter(element => !element.closest('.unseen, .skip, .scroll'))
  .filter(element => element.scrollWidth > element.clientWidth + 1)
  .map(element => element.outerHTML.slice(0, 80))
"""
# On a narrow screen a table is folded, so that it does not scroll sideways.
_UNFOLDED = """
() => innerWidth > 640 ? [] : [...document.querySelectorAll('.scroll')]
  .filter(element => element.scrollWidth > element.clientWidth + 1).map(element => element.getAttribute('aria-label'))
"""


def list_faults(page: Page, looks: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Yield the faults of a page in each of these color schemes and widths."""
    page.evaluate(_AXE.axe_script)
    checked_widths = set()
    for scheme, width in looks:
        options = _COLOR_OPTIONS if width in checked_widths else _OPTIONS
        checked_widths.add(width)
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        for violation in page.evaluate("options => axe.run(document, options)", options)["violations"]:
            yield f"{scheme} {width} {violation['id']}: {[node['html'][:120] for node in violation['nodes'][:3]]}"
        for fault in list_overflow_faults(page, width):
            yield f"{scheme} {width} {fault}"


def list_overflow_faults(page: Page, width: int) -> Iterator[str]:
    """Yield a fault if a page of this width is too wide, cuts text off, or scrolls sideways."""
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
        yield f"{wide} px wide"
    if cut_off := page.evaluate(_CUT_OFF):
        yield f"cut off: {cut_off}"
    if unfolded := page.evaluate(_UNFOLDED):
        yield f"scrolls sideways: {unfolded}"
