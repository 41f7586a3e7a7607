"""Rules of the pages for people who signed in; docs/screens.md describes the house."""

import re
from pathlib import Path

import pytest

import pages
from api.edge.operations import Operation
from pages import navigation

_ROOT = Path(pages.__file__).parent
_TEMPLATES = sorted((_ROOT / "templates" / "screens").glob("*.html"))
_CSS = (_ROOT / "static" / "app.css").read_text()


@pytest.fixture
def screens(app):
    return {
        rule.rule: app.view_functions[rule.endpoint]
        for rule in app.url_map.iter_rules()
        if not app.view_functions[rule.endpoint].operation.is_described
    }


def test_every_screen_uses_operations_that_are_described(app, screens):
    described = {view for view in app.view_functions.values() if view.operation.is_described}
    used = {path: view.uses for path, view in screens.items() if hasattr(view, "uses")}

    assert {"/dashboard", "/portal", "/console"} <= set(used)
    assert [path for path, uses in used.items() if not set(uses) <= described] == []


def test_what_is_not_described_is_a_page_or_a_file_of_the_pages(app, screens):
    assert all(isinstance(view.operation, Operation) for view in screens.values())
    assert [view.__name__ for view in screens.values() if not view.__module__.startswith("pages.")] == []


def test_every_place_in_a_bar_is_a_screen_of_its_area_that_asks_what_it_needs(screens):
    for area in navigation.AREAS.values():
        for place in area.places:
            assert place.path == area.home or place.path.startswith(f"{area.home}/")
            assert place.needs is None or place.needs in screens[place.path].uses


@pytest.mark.parametrize("path", _TEMPLATES, ids=lambda path: path.name)
def test_every_word_can_be_translated(path):
    written = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", path.read_text(), flags=re.DOTALL)
    words = re.sub(r"<code>.*?</code>|<i aria-hidden=\"true\">f</i>|<[^>]*>", "", written, flags=re.DOTALL)
    spoken = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]+)"', written)

    assert re.findall(r"[A-Za-z]+", words) == []
    assert spoken == []


@pytest.mark.parametrize("path", _TEMPLATES, ids=lambda path: path.name)
def test_no_template_needs_what_the_policy_forbids(path):
    written = path.read_text()

    assert not re.search(r"\bstyle=|<style|<script(?! src=)|\bon[a-z]+=\"|hx-on|javascript:|https?://", written)
    assert all('name="_key"' in form for form in re.findall(r"<form method=\"post\".*?</form>", written, re.DOTALL))


def _luminance(color):
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


_READ_ON = {
    **{(name, ground): 4.5 for name in ("ink", "dim", "link", "danger") for ground in ("bg", "surface", "sunken")},
    **{(name, f"{name}-bg"): 4.5 for name in ("ok", "wait", "run", "bad", "off", "test")},
    ("on-accent", "accent"): 4.5,
    ("edge", "surface"): 3,
    ("accent", "bg"): 3,
}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_what_is_written_can_be_read_on_what_it_stands_on(theme):
    pairs = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", _CSS)
    tokens = {name: colors[theme] for name, *colors in pairs}
    weak = {
        pair: round(_contrast(tokens[pair[0]], tokens[pair[1]]), 2)
        for pair, least in _READ_ON.items()
        if _contrast(tokens[pair[0]], tokens[pair[1]]) < least
    }

    assert weak == {}
