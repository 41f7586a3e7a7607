-- What the brand refunded of a conversion that its gateway has not reported yet, as a part of refunded_cents. Null: nothing;
-- 0: all of a conversion without an amount. Read only where a gateway brought the conversion: of any other it is all of it.
alter table conversion
  add column unreported_cents bigint,
  add constraint conversion_unreported check (unreported_cents >= 0) not valid;
