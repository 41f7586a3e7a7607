-- Why a sale was credited as it was: what each step of the order said. Null where the row itself says it all, as for a
-- signed sale whose buyer is nobody's lead.

alter table conversion add column attribution_log text[];
alter table uncredited_conversion add column attribution_log text[];

-- The buyer's inbox, for the look at recorded leads.
alter table sale add column email_normalized text;
