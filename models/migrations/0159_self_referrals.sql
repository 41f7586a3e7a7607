-- What becomes of a conversion whose buyer is the affiliate that it credits.
alter table organization add column self_referrals text not null default 'earn'
  constraint organization_self_referrals check (self_referrals in ('earn', 'hold', 'deny'));
