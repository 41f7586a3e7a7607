"""The costs of a sale and a click from the bench's figures: CPU by kind of process, bytes by retention."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: Figures of a full run on a quiet machine; --results replaces them by those of your own run.
MEASURED = Path(__file__).parent / "measured.json"


class CostsMissing(Exception):
    """A file of results lacks a required figure; the message names it and how to measure it."""


@dataclass(frozen=True, slots=True)
class Costs:
    """CPU milliseconds and bytes of one of each.

    `sale` covers a signed sale up to its delivered webhook, `click` a click up to its row. Of the bytes on disk,
    `sale_kept` are permanent; `sale_passing` and `click_passing` are deleted after their retention.
    """

    sale: Mapping[str, float]
    click: Mapping[str, float]
    sale_kept: float
    sale_passing: float
    sale_wal: float
    click_passing: float
    click_wal: float

    @classmethod
    def read(cls, path: Path) -> "Costs":
        """Read a results.json. Raises CostsMissing."""
        figures = {figure["name"]: figure.get("parts", {}) for figure in json.loads(path.read_text())}

        def parts(name: str) -> Mapping[str, float]:
            if not figures.get(name):
                make = "python -m bench --only sales_delivered --only clicks_timed"
                raise CostsMissing(f"{path} has no figure {name}; measure it with: {make}")
            return figures[name]

        sale_stored, click_stored = parts("sale_stored"), parts("click_stored")
        return cls(
            sale=parts("sale_cost"),
            click=parts("click_cost"),
            sale_kept=sale_stored["kept"],
            sale_passing=sale_stored["passing"],
            sale_wal=sale_stored["wal"],
            click_passing=click_stored["passing"],
            click_wal=click_stored["wal"],
        )
