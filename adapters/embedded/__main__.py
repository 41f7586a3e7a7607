"""`python -m adapters.embedded start|stop|status DATA_DIR`."""

import sys

from adapters.embedded import server_pair

sys.exit(server_pair.main(sys.argv[1:]))
