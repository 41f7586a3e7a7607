-- Where a visit came from, as far as the operator's file of networks says; the address itself is never kept.
alter table click add column country char(2);
alter table click_hour add column country char(2);
drop index click_hour_fate;
create unique index click_hour_fate on click_hour
  (organization_id, program_id, affiliate_id, hour, slug, sub_id, is_duplicate, outcome, conversion_id, country)
  nulls not distinct;
