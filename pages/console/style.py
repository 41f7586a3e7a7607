"""Every part of a page and the chip of every state, to look at."""

from collections import defaultdict

from flask import Blueprint, Response

from pages import charts, forms, screens, template_filters
from pages.charts import ChartPoint
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("style_page", __name__)

_SAMPLE_VALUES = (3, 9, 4, 12, 8, 15, 11)
_FORM_WITH_ERRORS = FormState(
    {"name": ["Spring"], "note": ["Two\nlines"], "model": ["fixed"], "agree": ["on"]},
    {"name": "Another program has this name."},
    "The amounts changed.",
    "sample-",
)


@blueprint.get("/console/style")
@screen("operator")
def show_style() -> Response:
    """Show the parts. Budget: no round trip."""
    by_colour: dict[str, list[str]] = defaultdict(list)
    for state, colour in sorted(template_filters.COLOURS.items()):
        by_colour[colour].append(state)
    points = [ChartPoint(f"{day} Nov", value, f"{value} clicks") for day, value in enumerate(_SAMPLE_VALUES, start=1)]
    return screens.render(
        "console/style.html",
        by_colour=by_colour,
        sample=_FORM_WITH_ERRORS,
        blank=forms.prefill("blank-"),
        points=points,
        picture=charts.draw_bars(points, "Clicks", currency=None),
    )
