"""Shared parts of these selects: the columns for no lead and no code, and the end of the payment's second."""

#: The end of the payment's second: gateways report whole seconds, and events within it count as before the payment.
SECOND_AFTER = "date_trunc('second', %(at)s::timestamptz) + interval '1 second'"
NO_LEAD = "null::uuid, null::text, null::timestamptz, null::boolean"
NO_CODE = "null::uuid, null::text, null::text, null::boolean, null::boolean, null::boolean, null::text, null::numeric"
