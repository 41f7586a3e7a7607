"""Acts that not every gateway supports, and reasons that several gateways share; see `Stage.unsupported`."""

ACTS = (
    "trial",
    "code",
    "test_flag",  # a live account may send test events
    "dispute_opened",
    "dispute_lost",
    "dispute_won",
    "uninstall",
    "proof",
    "time",  # the proof has a time and expires
    "currency",
    "any_body",  # any bytes can be signed, also if they are not an event
    "cancel",  # a notification that a paid sale was cancelled, failed or voided
    "pay_again",  # a notification that a cancelled sale was paid after all
    "change_total",  # the total of a paid order becomes lower or higher
    "pay_part",  # an order or invoice has several payments, each a sale with its own id
)

UNINSTALL_IS_SILENT = "No notification when access is revoked: the next check is refused."
PAYMENT_IS_FINAL = "A payment is final: money that is returned is reported as a refund or a dispute."
VOID_IS_FINAL = "A voided payment stays void: another attempt is another payment."
TOTAL_IS_FIXED = "The amount of a payment is fixed once it is paid."
ONE_SALE_PER_ORDER = "The id of a sale is that of its order or invoice, whatever the number of payments."
PAYMENT_NAMES_NO_ORDER = "A payment does not name an order that it could share with another payment."
PROOF_HAS_NO_TIME = "The proof has no time in it."
SEPARATE_TEST_ACCOUNT = "Test events come from separate accounts: the connection has the mode."
NO_DISPUTE_EVENTS = "Lost money is reported, but no dispute about it."
NO_DISPUTE_WON_EVENTS = "Lost money is reported, but not that it came back."
