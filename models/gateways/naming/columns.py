"""The columns of a naming select that name neither a lead nor a code."""

NO_LEAD = "null::uuid, null::text, null::timestamptz, null::boolean"
NO_CODE = "null::uuid, null::text, null::text, null::boolean, null::boolean, null::boolean, null::text, null::numeric"
