"""What the last 30 days brought, for screens of a brand: a picture of each kind, and who brought the most."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.programs.metrics import get_leaderboard, get_performance_metrics
from domain.money import wording
from pages import api_client, charts, template_filters
from pages.charts import Chart, ChartPoint

#: What `of` and `best` ask.
USES = (get_performance_metrics, get_leaderboard)

_MOST_PLACES = 5


def of(program_id: str | None = None) -> Sequence[Chart]:
    """Return what came in, to one program or to all, as pictures; of what never came there is none.

    Money is in the home currency, less what was given back; what had no rate is `held` apart.
    """
    found = api_client.require(get_performance_metrics, query=_query(program_id))
    days, totals, currency = found["rows"], found["totals"], found["currency"]
    pictures = []
    for name, label in (("clicks", "Clicks"), ("sales", "Sales"), ("leads", "Leads")):
        points = [ChartPoint(day["key"], day[name], template_filters.format_number(day[name])) for day in days]
        pictures.append(charts.create_chart(label, points))
    for label, name, back in (("Revenue", "revenue", "refunded"), ("Commission", "commission", None)):
        amounts = [(day["key"], day[f"{name}Cents"] - (day[f"{back}Cents"] if back else 0)) for day in days]
        points = [ChartPoint(day, cents, wording.money(cents, currency)) for day, cents in amounts]
        pictures.append(charts.create_chart(label, points, _held(totals, name, back)))
    return [picture for picture in pictures if picture.has_anything]


def best(program_id: str | None = None) -> Sequence[Mapping[str, Any]]:
    """Return the first places of the leaderboard, of one program or of all, by what affiliates earned."""
    query = {"metric": "commission", "limit": _MOST_PLACES} | _query(program_id)
    places: Sequence[Mapping[str, Any]] = api_client.require(get_leaderboard, query=query)
    return places


def _held(totals: Mapping[str, Any], name: str, back: str | None) -> Mapping[str, int]:
    """Return what had no rate, by currency in its own minor units, less what of it was given back."""
    given_back = (totals[f"{back}UnconvertibleByCurrency"] if back else None) or {}
    held = (totals[f"{name}UnconvertibleByCurrency"] or {}).items()
    return {currency: cents - given_back.get(currency, 0) for currency, cents in held}


def _query(program_id: str | None) -> dict[str, object]:
    return {} if program_id is None else {"programId": program_id}
