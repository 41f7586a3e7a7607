-- Clicks, their counts per hour, visits through the checkout door, and fraud events.

-- Every click is stored; outcome is the verdict on it. The visitor is identified only by a keyed hash. Written on a hot
-- path, so it refers to its organization only through its affiliate.
create table click (
  id uuid not null,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  slug text not null,
  sub_id text,
  visitor_hash bytea,
  occurred_at timestamptz not null,
  is_duplicate boolean not null default false,
  score int not null default 0,
  outcome text not null default 'recorded'
    check (outcome in ('recorded', 'earned', 'duplicate', 'held', 'blocked', 'unscored', 'over_budget')),
  created_at timestamptz not null default now(),
  -- The fraud rules that matched.
  reasons text[],
  -- Keyed hash of the network, by which clicks of one network are recognised.
  network_hash bytea,
  -- The conversion that pays for the click, or would. No foreign key: on the hot path the same transaction has just
  -- written that row.
  conversion_id uuid,
  -- Country by the operator's file of networks; the address itself is never stored.
  country char(2),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
) partition by range (id);
-- Recent clicks of a visitor, and of a network on one link. A click leaves these indexes when its hashes are deleted.
create index click_visitor on click (organization_id, visitor_hash, occurred_at) where visitor_hash is not null;
create index click_network on click (organization_id, network_hash, program_id, slug, occurred_at)
  where network_hash is not null;
create index click_hashes on click (occurred_at) where visitor_hash is not null or network_hash is not null;
create index click_program on click (organization_id, program_id, occurred_at desc, id desc)
  include (is_duplicate, outcome);
create index click_paid on click (organization_id, program_id, occurred_at) include (conversion_id)
  where conversion_id is not null;
create index click_of_affiliate on click (organization_id, affiliate_id, occurred_at);
alter table click add primary key (organization_id, id);
select isolate_tenant('click');

-- A click counts unless it is a duplicate or blocked. Clicks that become counts per hour were counted before, so their
-- deletion changes nothing.
create function note_click_days() returns trigger language plpgsql as $$
begin
  insert into day_change (organization_id, program_id, affiliate_id, day, country, clicks)
  select organization_id, program_id, affiliate_id, (occurred_at at time zone 'UTC')::date, country, count(*)
  from added where not is_duplicate and outcome <> 'blocked' group by 1, 2, 3, 4, 5;
  return null;
end $$;
create trigger click_days_new after insert on click
  referencing new table as added for each statement execute function note_click_days();

create function note_click_day() returns trigger language plpgsql as $$
begin
  insert into day_change (organization_id, program_id, affiliate_id, day, country, clicks)
  values (new.organization_id, new.program_id, new.affiliate_id, (new.occurred_at at time zone 'UTC')::date, new.country,
    case when not new.is_duplicate and new.outcome <> 'blocked' then 1 else -1 end);
  return null;
end $$;
create trigger click_day_changed after update of is_duplicate, outcome on click for each row
  when ((not old.is_duplicate and old.outcome <> 'blocked') <> (not new.is_duplicate and new.outcome <> 'blocked'))
  execute function note_click_day();
select begin_months('click');

-- Old clicks, as counts: how many a link had in an hour with the same outcome. Nulls are equal in its unique index.
create table click_hour (
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  slug text not null,
  sub_id text,
  hour timestamptz not null,
  is_duplicate boolean not null,
  outcome text not null,
  conversion_id uuid,
  number bigint not null check (number > 0),
  last_at timestamptz not null,
  country char(2),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
create index click_hour_last on click_hour (organization_id, program_id, last_at desc);
create unique index click_hour_fate on click_hour
  (organization_id, program_id, affiliate_id, hour, slug, sub_id, is_duplicate, outcome, conversion_id, country)
  nulls not distinct;
select isolate_tenant('click_hour');

-- Visitors of a program's checkout door: one row per browser or email, not per visit.
create table door_visit (
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  slug text not null,
  -- Keyed hash of a browser at an address, as in clicks.
  visitor text,
  email_normalized text,
  is_test boolean not null,
  -- Since when they have visited without a break longer than the program's cookie window, and until when that counts.
  first_at timestamptz not null,
  last_at timestamptz not null,
  expires_at timestamptz not null,
  check (num_nonnulls(visitor, email_normalized) = 1),
  check (first_at <= last_at and last_at <= expires_at),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
create unique index door_visit_who on door_visit
  (organization_id, program_id, slug, affiliate_id, visitor, email_normalized) nulls not distinct;
create index door_visit_email on door_visit (organization_id, email_normalized) where email_normalized is not null;
create index door_visit_over on door_visit (expires_at);
select isolate_tenant('door_visit');

-- A click or lead that was blocked or held. Written together with clicks, so it refers to its organization through its
-- affiliate alone. The click or lead itself may not exist: blocked ones need not be stored.
create table fraud_event (
  id uuid not null,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  subject text not null check (subject in ('click', 'lead')),
  subject_id uuid not null,
  score int not null check (score between 0 and 100),
  reasons text[] not null,
  severity text not null check (severity in ('low', 'medium', 'high')),
  action text not null check (action in ('blocked', 'held')),
  status text not null default 'open' check (status in ('open', 'resolved', 'dismissed')),
  occurred_at timestamptz not null,
  resolved_at timestamptz,
  resolved_by uuid,
  -- The conversion of a held click, after the click became a count.
  conversion_id uuid,
  -- Blocked clicks of one link with the same reasons within an hour are one row with a count, so that a thousand clicks
  -- do not fill the list. Any other row is for one click or lead.
  occurrences int not null default 1 check (occurrences > 0),
  unique (organization_id, subject, subject_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  check ((status = 'open') = (resolved_at is null)),
  check ((resolved_at is null) = (resolved_by is null))
);
create index fraud_event_list on fraud_event (organization_id, occurred_at desc, id desc);
create index fraud_event_status on fraud_event (organization_id, status, occurred_at desc, id desc);
create index fraud_event_program on fraud_event (organization_id, program_id, occurred_at desc, id desc);
create index fraud_event_program_status
  on fraud_event (organization_id, program_id, status, occurred_at desc, id desc);
alter table fraud_event add primary key (organization_id, id);
select isolate_tenant('fraud_event');
