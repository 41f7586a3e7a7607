"""gunicorn's settings for a web server that waits long for a slow broker before it treats it as unavailable."""

import runpy
from pathlib import Path

from adapters import broker

broker._SHORT_TIMEOUT_S = 20.0
globals().update(runpy.run_path(str(Path(__file__).resolve().parents[4] / "gunicorn.conf.py")))
