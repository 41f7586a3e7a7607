-- The all-time totals of each affiliate, which lists sort by (decision 79). A row is created with its affiliate and has
-- those columns of it that lists and the search filter by, so that every filter and order has an index. A job adds what changed in the
-- affiliate's days; sales and clicks never touch a row.
--
-- Money is in the organization's home currency, each day and currency converted at the rate of the day and rounded by
-- itself, net of refunds. Amounts without a rate are in affiliate_unconverted.
create table affiliate_total (
  organization_id uuid not null,
  affiliate_id uuid not null,
  program_id uuid not null,
  status text not null,
  is_deleted boolean not null default false,
  -- The last word of the name, in lower case, for the search. It is a column, because the policy of tenants lets no index
  -- on the result of a function be used.
  last_name text,
  clicks bigint not null default 0,
  sales bigint not null default 0,
  revenue_cents numeric(40) not null default 0,
  commission_cents numeric(40) not null default 0,
  -- The UTC day of the last sale that counts; the first of year 1 if there is none.
  last_sale_on date not null default '0001-01-01',
  primary key (organization_id, affiliate_id),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id) on delete cascade
);
create index affiliate_total_clicks on affiliate_total (organization_id, status, clicks, affiliate_id)
  where not is_deleted;
create index affiliate_total_sales on affiliate_total (organization_id, status, sales, affiliate_id)
  where not is_deleted;
create index affiliate_total_revenue on affiliate_total (organization_id, status, revenue_cents, affiliate_id)
  where not is_deleted;
create index affiliate_total_commission on affiliate_total (organization_id, status, commission_cents, affiliate_id)
  where not is_deleted;
create index affiliate_total_last_sale on affiliate_total (organization_id, status, last_sale_on, affiliate_id)
  where not is_deleted;
create index affiliate_total_program_clicks
  on affiliate_total (organization_id, program_id, status, clicks, affiliate_id) where not is_deleted;
create index affiliate_total_program_sales
  on affiliate_total (organization_id, program_id, status, sales, affiliate_id) where not is_deleted;
create index affiliate_total_program_revenue
  on affiliate_total (organization_id, program_id, status, revenue_cents, affiliate_id) where not is_deleted;
create index affiliate_total_program_commission
  on affiliate_total (organization_id, program_id, status, commission_cents, affiliate_id) where not is_deleted;
create index affiliate_total_program_last_sale
  on affiliate_total (organization_id, program_id, status, last_sale_on, affiliate_id) where not is_deleted;
select isolate_tenant('affiliate_total');

create table affiliate_unconverted (
  organization_id uuid not null,
  affiliate_id uuid not null,
  currency text not null,
  revenue_cents numeric(40) not null,
  commission_cents numeric(40) not null,
  primary key (organization_id, affiliate_id, currency),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id) on delete cascade
);
select isolate_tenant('affiliate_unconverted');

-- Until when all changes of an organization are contained in its affiliates' totals, as of the last time that changes
-- were added.
create table affiliate_total_state (
  organization_id uuid primary key references organization on delete cascade,
  counted_until timestamptz not null
);
select isolate_tenant('affiliate_total_state');

create function copy_to_affiliate_total() returns trigger language plpgsql as $$
begin
  insert into affiliate_total as kept (organization_id, affiliate_id, program_id, status, is_deleted, last_name)
  values (new.organization_id, new.id, new.program_id, new.status, new.deleted_at is not null,
    substring(new.name_sought from '[^ ]+$'))
  on conflict (organization_id, affiliate_id) do update
    set status = excluded.status, is_deleted = excluded.is_deleted, last_name = excluded.last_name;
  return null;
end $$;
create trigger affiliate_total_new after insert on affiliate for each row execute function copy_to_affiliate_total();
create trigger affiliate_total_changed after update of status, deleted_at, full_name on affiliate for each row
  when (old.status <> new.status or (old.deleted_at is null) <> (new.deleted_at is null)
    or old.full_name <> new.full_name)
  execute function copy_to_affiliate_total();
