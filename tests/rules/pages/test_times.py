"""Pages print times only through the filters that know the page's time zone."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import nodes

import pages
from pages import documents
from tests.support import trees

_ROOT = Path(pages.__file__).parent / "templates"
_TEMPLATES = sorted(path.relative_to(_ROOT).as_posix() for path in _ROOT.rglob("*.html"))
#: Fields that hold an instant or a day of the API.
_TIME = re.compile(r"[a-z][a-zA-Z_]*(At|_at|Until|Since)|reconciledTo|periodStart|periodEnd|fxRateDate|as_of")
_FILTERS = {"moment", "day", "ago", "words"}
#: Times that are in UTC by a rule say so with these words; no other text names that zone.
_UTC_BY_RULE = re.compile(r"\bin UTC\b|\(UTC\)")
#: A form field or a filter in which a day or a time is typed.
_TYPED_TIME = re.compile(r'type="(date|datetime-local|time|month|week)"')
#: Hidden form fields, which the API compares unchanged.
_HIDDEN_FIELDS = {("screens/console/network_review.html", "askedAt")}
# The modules that format times: the filters, the fields of forms, and the dates of a sitemap.
_FORMATTERS = {"pages/template_filters.py", "pages/times/time_fields.py", "pages/hosted/landing/crawlers.py"}


@pytest.mark.parametrize("name", _TEMPLATES)
def test_templates_print_times_through_filters_only(name):
    source = (_ROOT / name).read_text()

    raw = [(line, field) for line, field in _find_raw_times(documents.TEMPLATES.parse(source))]

    assert [(line, field) for line, field in raw if (name, field) not in _HIDDEN_FIELDS] == []
    assert [line for line in source.splitlines() if "UTC" in _UTC_BY_RULE.sub("", line)] == []


def test_pipelines_write_no_iso_dates_into_emails():
    dated = [trees.relative_name(path) for path in trees.list_files("pipelines") if "%Y-%m-%d" in path.read_text()]

    assert dated == []


@pytest.mark.parametrize("name", _TEMPLATES)
def test_templates_name_the_zone_of_typed_times(name):
    source = (_ROOT / name).read_text()

    assert not _TYPED_TIME.search(source) or "zone=zone" in source or _UTC_BY_RULE.search(source)


@pytest.mark.parametrize(
    "template",
    [
        "{{ row.createdAt }}",
        "{{ row.createdAt[:10] }}",
        "{{ _('of %(day)s', day=row.createdAt) }}",
        "{{ row['holdUntil'] }}",
        "{{ row.lastUsedAt if row.lastUsedAt else '–' }}",
        "{% set used = row.lastUsedAt or 'never' %}{{ used }}",
    ],
)
def test_raw_time_in_a_template_is_found(template):
    assert list(_find_raw_times(documents.TEMPLATES.parse(template)))


@pytest.mark.parametrize(
    "template",
    [
        "{{ row.createdAt|moment }}",
        "{{ facts([(_('Made'), row.createdAt|day)]) }}",
        "{% if row.endedAt %}{{ _('over') }}{% endif %}",
        "{{ row.lastUsedAt|moment if row.lastUsedAt else _('never') }}",
        "{{ (row.scriptSeenAt or row.lastClickAt)|moment }}",
    ],
)
def test_filtered_time_passes(template):
    assert list(_find_raw_times(documents.TEMPLATES.parse(template))) == []


def test_pages_format_times_in_one_place():
    formats = re.compile(r"strftime|%[HMY]|isoformat\(timespec|toTimeString")
    formatting = {trees.relative_name(path) for path in trees.list_files("pages") if formats.search(path.read_text())}

    assert formatting <= _FORMATTERS
    assert "pages/template_filters.py" in formatting


def _find_raw_times(node: nodes.Node, *, is_printed: bool = False) -> Iterator[tuple[int, str]]:
    """Yield line and name of each time field that a template prints without a time filter."""
    if isinstance(node, nodes.Filter) and node.name in _FILTERS:
        return
    if isinstance(node, nodes.Getattr | nodes.Getitem) and is_printed:
        name = node.attr if isinstance(node, nodes.Getattr) else getattr(node.arg, "value", None)
        if isinstance(name, str) and _TIME.fullmatch(name):
            yield node.lineno, name
    tested = {id(node.test)} if isinstance(node, nodes.If | nodes.CondExpr) else set()
    if isinstance(node, nodes.For):
        tested = {id(node.iter)} | ({id(node.test)} if node.test else set())
    prints = is_printed or isinstance(node, nodes.Output | nodes.Assign | nodes.CallBlock)
    if isinstance(node, nodes.Compare | nodes.Not | nodes.Test):
        prints = False
    for child in node.iter_child_nodes():
        yield from _find_raw_times(child, is_printed=prints and id(child) not in tested)
