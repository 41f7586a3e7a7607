"""gunicorn's settings for a web server to which a broker's server that is slow to answer is not away."""

import runpy
from pathlib import Path

from adapters import broker

broker._SHORT_TIMEOUT_S = 20.0
globals().update(runpy.run_path(str(Path(__file__).resolve().parents[4] / "gunicorn.conf.py")))
