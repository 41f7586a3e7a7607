"""`python -m bench.scale`: print the resources that loads need; `--results FILE` uses figures of your own machine."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from bench.scale import page
from bench.scale.costs import MEASURED, Costs, CostsMissing
from bench.scale.demand import Load
from bench.scale.sizing import Prices, Sizing, size_load

_CLICKS = (10**5, 10**7, 10**9)
_SALES = (10**4, 10**6, 10**7)


def main() -> int:
    """Print the resources that the loads need; return the exit status."""
    arguments = _arguments()
    try:
        costs = Costs.read(arguments.results)
    except (OSError, ValueError, CostsMissing) as problem:
        print(f"bench.scale: {problem}", file=sys.stderr)
        return 1
    loads = [Load(clicks, sales) for clicks in arguments.clicks or _CLICKS for sales in arguments.sales or _SALES]
    sizings = [size_load(load, costs, Prices()) for load in loads]
    if arguments.json:
        print(json.dumps([_as_json(sizing) for sizing in sizings], indent=2))
    else:
        page.show(sizings, Prices())
    return 0


def _as_json(sizing: Sizing) -> dict[str, object]:
    step = sizing.verdict.step
    return {
        **asdict(sizing.load),
        "fleets": [asdict(fleet) for fleet in sizing.fleets],
        "needs": dict(sizing.needs),
        "dollars_a_month": dict(sizing.money),
        "step": step and step.name,
        "broke": dict(sizing.verdict.broke),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale", description="Compute the resources that a load needs from measured costs."
    )
    parser.add_argument(
        "--results", type=Path, default=MEASURED, help="a results.json (default: the one of this package)"
    )
    parser.add_argument("--clicks", type=_count, action="append", help="clicks a day; may be repeated")
    parser.add_argument("--sales", type=_count, action="append", help="sales a day; may be repeated")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _count(text: str) -> int:
    count = int(text.replace("_", "").replace(",", ""))
    if count < 0:
        raise ValueError
    return count


if __name__ == "__main__":
    sys.exit(main())
