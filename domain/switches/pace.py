"""When a source is asked again. Source: the switch-over rules, "Jobs" (limits of the source)."""

#: Seconds before each further try of a request without a usable answer; after the last one the switch pauses.
RETRY_AT_S = (1, 5, 15, 60, 120, 300, 300, 300)
#: Seconds to wait after each 429 in a row that tells no time.
BUSY_WAIT_S = (2, 4, 8, 16, 32, 60)
