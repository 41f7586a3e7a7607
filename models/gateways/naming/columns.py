"""What the naming selects share: the columns that name neither a lead nor a code, and the second of the payment."""

#: When the second of the payment is over: gateways report whole seconds, and what happened in it counts as before.
SECOND_AFTER = "date_trunc('second', %(at)s::timestamptz) + interval '1 second'"
NO_LEAD = "null::uuid, null::text, null::timestamptz, null::boolean"
NO_CODE = "null::uuid, null::text, null::text, null::boolean, null::boolean, null::boolean, null::text, null::numeric"
