"""Acts that not every gateway has, and why several have none: a stage says it of its own in `unsupported`."""

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
    "cancel",  # a sale that was paid is told as cancelled, failed, voided
    "pay_again",  # one that was cancelled is told as paid again
    "change_total",  # a paid order comes to less, or to more
    "pay_part",  # an order or invoice is paid by several payments, each a sale with an id of its own
)

UNINSTALL_IS_SILENT = "Who takes the access back is told by nobody: the next check is refused."
PAYMENT_IS_FINAL = "A payment that was taken stays: what goes back of it is told as a refund or a dispute."
VOID_IS_FINAL = "What was voided stays void: another attempt is another payment."
TOTAL_IS_FIXED = "What a payment comes to is fixed once it is paid."
ONE_SALE_PER_ORDER = "A sale goes by the id of its order or invoice, however many payments it takes."
PAYMENT_NAMES_NO_ORDER = "A payment names no order that another one could name."
PROOF_HAS_NO_TIME = "The proof has no time in it."
SEPARATE_TEST_ACCOUNT = "Tests are made at an account of their own: the connection says so."
NO_DISPUTE_EVENTS = "What is told is money that is gone, not a dispute about it."
NO_DISPUTE_WON_EVENTS = "What is told is money that is gone, not that it came back."
