-- A refund says who booked it, and a person may say more about it than the reason. Null: a signed sale's was booked by
-- the brand, any other by its gateway.
alter table refund
  add column origin text,
  add column note text,
  add constraint refund_origin check (origin in ('brand', 'gateway')) not valid;

-- Each change of a conversion's commission by a person, and what it made of its override's. Commissions are as before
-- any refund, in minor units of the conversion's currency.
create table commission_change (
  organization_id uuid not null,
  id uuid not null,
  conversion_id uuid not null,
  previous_cents bigint not null check (previous_cents >= 0),
  commission_cents bigint not null check (commission_cents >= 0),
  reason text not null,
  note text,
  created_at timestamptz not null,
  primary key (organization_id, id, conversion_id),
  foreign key (organization_id, conversion_id) references conversion (organization_id, id)
);
create index commission_change_conversion on commission_change (organization_id, conversion_id);
select isolate_tenant('commission_change');
create trigger commission_change_time before insert on commission_change
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');
