"""Rules of the pages for signed-in users; docs/screens.md describes them."""

import gzip
import hashlib
import importlib
import inspect
import pkgutil
import re
from enum import StrEnum
from pathlib import Path

import pytest

import domain
import pages
from api.edge.operations import Operation
from pages import navigation, template_filters

_ROOT = Path(pages.__file__).parent
_TEMPLATES = sorted((_ROOT / "templates" / "screens").rglob("*.html"))
_LIVE = {f"hx-{name}" for name in ("get", "target", "swap", "select", "trigger", "push-url", "indicator", "confirm")}
_STATIC = _ROOT / "static"
_CSS = (_STATIC / "app.css").read_text()


@pytest.fixture
def screens(app):
    return {
        rule.rule: app.view_functions[rule.endpoint]
        for rule in app.url_map.iter_rules()
        if not app.view_functions[rule.endpoint].operation.is_described
    }


def test_every_screen_uses_described_operations(app, screens):
    described = {view for view in app.view_functions.values() if view.operation.is_described}
    used = {path: view.uses for path, view in screens.items() if hasattr(view, "uses")}

    assert {"/dashboard", "/portal", "/console"} <= set(used)
    assert [path for path, uses in used.items() if not set(uses) <= described] == []


def test_undescribed_routes_are_pages_or_their_files(app, screens):
    assert all(isinstance(view.operation, Operation) for view in screens.values())
    assert [view.__name__ for view in screens.values() if not view.__module__.startswith("pages.")] == []


def test_every_navigation_entry_is_a_screen_with_its_permission(screens):
    for area in navigation.AREAS.values():
        for place in area.places:
            assert place.path == area.home or place.path.startswith(f"{area.home}/")
            assert place.needs is None or place.needs in screens[place.path].uses


@pytest.mark.parametrize("path", _TEMPLATES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_text_is_translatable(path):
    written = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", path.read_text(), flags=re.DOTALL)
    words = re.sub(r"<code>.*?</code>|<i aria-hidden=\"true\">f</i>|<[^>]*>", "", written, flags=re.DOTALL)
    spoken = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]+)"', written)

    assert re.findall(r"[A-Za-z]+", words) == []
    assert spoken == []


@pytest.mark.parametrize("path", _TEMPLATES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_templates_obey_the_content_security_policy(path):
    written = path.read_text()

    assert not re.search(r"\bstyle=|<style|<script(?! src=)|\bon[a-z]+=\"|hx-on|javascript:|https?://", written)
    assert set(re.findall(r"\s(hx-[a-z-]+)", written)) <= _LIVE
    assert all('name="_key"' in form for form in re.findall(r"<form method=\"post\".*?</form>", written, re.DOTALL))


@pytest.mark.parametrize("path", _TEMPLATES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_main_action_in_a_head_stays_within_reach_on_phones(path):
    heads = re.findall(r'<div class="head">.*?(?=\{\{ alert\(|<section|\Z)', path.read_text(), re.DOTALL)

    assert [head for head in heads if 'class="button primary"' in head] == []  # the macro main_action keeps it there


def test_third_party_files_match_their_checksums():
    checksums = re.findall(
        r"^\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|$", (_STATIC / "VENDORED.md").read_text(), re.MULTILINE
    )

    assert {name for name, _ in checksums} == {path.name for path in _STATIC.iterdir() if re.search(r"-\d", path.name)}
    assert [name for name, sha in checksums if hashlib.sha256((_STATIC / name).read_bytes()).hexdigest() != sha] == []


def test_own_script_stays_small():
    assert len(gzip.compress((_STATIC / "app.js").read_bytes())) < 2048


def _list_enum_members(package, ending):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for name, member in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(member, StrEnum) and member.__module__ == module.name and name.endswith(ending):
                yield from member


def test_every_status_has_a_chosen_colour():
    values = {state.value for ending in ("Status", "State") for state in _list_enum_members(domain, ending)}
    states = {value for value in values if value[0].isupper()}  # lower-case states are internal and never displayed

    assert {"Pending", "Minting", "Released"} <= states
    assert sorted(states - set(template_filters.COLOURS)) == []
    assert {colour for colours in template_filters.COLOURS.values() for colour in colours.split()} <= {
        "ok",
        "wait",
        "run",
        "bad",
        "off",
        "test",
        "tick",
    }


def _luminance(color):
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(color, background):
    lighter, darker = sorted((_luminance(color), _luminance(background)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


_MIN_CONTRAST = {
    **{(name, ground): 4.5 for name in ("ink", "dim", "link", "danger") for ground in ("bg", "surface", "sunken")},
    **{(name, f"{name}-bg"): 4.5 for name in ("ok", "wait", "run", "bad", "off", "test")},
    ("on-accent", "accent"): 4.5,
    ("edge", "surface"): 3,
    ("accent", "bg"): 3,
}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_contrast_is_sufficient(theme):
    pairs = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", _CSS)
    tokens = {name: colors[theme] for name, *colors in pairs}
    weak = {
        pair: round(_contrast(tokens[pair[0]], tokens[pair[1]]), 2)
        for pair, least in _MIN_CONTRAST.items()
        if _contrast(tokens[pair[0]], tokens[pair[1]]) < least
    }

    assert weak == {}
