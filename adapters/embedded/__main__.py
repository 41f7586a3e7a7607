"""`python -m adapters.embedded start|stop|status DATA_DIR`."""

import sys

from adapters.embedded import pair

sys.exit(pair.main(sys.argv[1:]))
