"""Acts that not every gateway has, and why several have none: a stage says it of its own in `cannot`."""

ACTS = (
    "trial",
    "code",
    "test_flag",  # an event of a live account that is a rehearsal
    "dispute_opened",
    "dispute_lost",
    "dispute_won",
    "uninstall",
    "proof",
    "time",  # a proof that grows old
    "currency",
    "any_body",  # a good proof of bytes that are no event
)

SILENT = "Who takes the access back is told by nobody: the next check is refused."
TIMELESS = "The proof has no time in it."
APART = "Tests are made at an account of their own: the connection says so."
GONE = "What is told is money that is gone, not a dispute about it."
ONLY_GONE = "What is told is money that is gone, not that it came back."
