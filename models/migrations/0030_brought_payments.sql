-- brought_payments: how many of the payments came over as commissions, of all switches; payments may be the source's own
-- greater number. names_affiliate: the customer's own row there names the affiliate, not only their commissions.
alter table brought_customer
  add column brought_payments int not null default 0,
  add column names_affiliate boolean not null default true;
set local app.any_org = 'on';
update brought_customer set brought_payments = payments, names_affiliate = source_id not like 'of:%';
