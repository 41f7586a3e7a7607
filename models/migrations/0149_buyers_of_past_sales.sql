-- The inbox of the buyer of an imported or manual sale, filled in by 0164. Those of signed sales and of gateways' payments stand with these.
alter table conversion add column email_normalized text;
