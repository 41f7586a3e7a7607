-- Switches: each brings one account of another affiliate system into an organization. What was read stays in the
-- staging tables (switch_list, switch_row, switch_figure, switch_item) until the switch ends.

create table switch (
  id uuid not null,
  organization_id uuid not null references organization,
  source text not null check (source in (
    'rewardful', 'firstpromoter', 'tolt', 'partnerstack', 'tapfiliate', 'lemonsqueezy', 'dub', 'files')),
  state text not null check (state in (
    'Connected', 'Reading', 'Ready', 'Writing', 'Paused', 'Completed', 'Undoing', 'Undone', 'Cancelled')),
  -- While Reading: a collection, recheck or judge. While Writing and Undoing: a collection.
  stage text,
  paused_in text check (paused_in in ('Reading', 'Writing')),
  account_name text not null,
  account_reference text not null,
  -- The credentials, sealed with the switch's id; null once they are erased.
  credentials_sealed bytea,
  options jsonb not null default '{}',
  -- Of source files: the column of each field of each collection, and the meaning of its words.
  columns jsonb not null default '{}',
  words jsonb not null default '{}',
  -- Parameter names of the old system's links.
  parameters text[] not null default '{}',
  -- Which of them Run has added to the organization's own.
  parameters_added text[] not null default '{}',
  cut_over_at timestamptz,
  requests int not null default 0,
  waiting_until timestamptz,
  -- Requests in a row without a usable answer.
  failures int not null default 0,
  -- Answers in a row that there were too many requests.
  busy int not null default 0,
  last_error_code text check (last_error_code in (
    'credentials_refused', 'source_unavailable', 'answer_too_large', 'internal_error', 'too_many_rows')),
  last_error_message text,
  last_error_at timestamptz,
  -- Null until the switch was judged.
  preview jsonb,
  result jsonb,
  created_by uuid,
  created_at timestamptz not null,
  -- When reading began for the last time; without another cut-over it is the cut-over.
  reading_at timestamptz,
  read_at timestamptz,
  completed_at timestamptz,
  undo_until timestamptz,
  undone_at timestamptz,
  -- When a person or a job last changed it.
  touched_at timestamptz not null,
  -- Key and staging are erased.
  is_forgotten boolean not null default false,
  constraint switch_paused check ((state = 'Paused') = (paused_in is not null)),
  constraint switch_last_error check ((last_error_code is null) = (last_error_at is null)),
  primary key (organization_id, id)
);
create unique index switch_open on switch (organization_id)
  where state not in ('Completed', 'Undoing', 'Undone', 'Cancelled');
create index switch_list_order on switch (organization_id, created_at desc, id desc);
-- Switches whose key or staging is to be forgotten.
create index switch_touched on switch (touched_at) where not is_forgotten;
select isolate_tenant('switch');

create table switch_campaign (
  organization_id uuid not null,
  switch_id uuid not null,
  source_id text not null,
  name text not null,
  -- How many affiliates the source says it has; null: it does not say.
  affiliates int,
  -- What the source says of rate, cookie and hold: the fields of domain.switches.records.CampaignTerms.
  terms jsonb not null default '{}',
  program_id uuid,
  primary key (organization_id, switch_id, source_id),
  foreign key (organization_id, switch_id) references switch (organization_id, id) on delete cascade,
  foreign key (organization_id, program_id) references program (organization_id, id)
);
select isolate_tenant('switch_campaign');

-- A list of the source, and how far it is read.
create table switch_list (
  organization_id uuid not null,
  switch_id uuid not null,
  name text not null,
  place int not null,
  collection text not null,
  -- The next page, in the form of the source's adapter; null: from the start.
  cursor jsonb,
  -- The number of the walk, from 1; its rows that no walk before had; whether all pages of this walk were read.
  walk int not null default 1,
  new_rows int not null default 0,
  is_done boolean not null default false,
  -- The total that the last page told.
  total int,
  -- The row of another list for which it is requested now.
  parent text collate "C",
  -- When its first walk began and ended.
  started_at timestamptz,
  walked_at timestamptz,
  -- What a person should know of it, as the preview shows it: [{code, count, example}].
  warnings jsonb not null default '[]',
  primary key (organization_id, switch_id, name),
  foreign key (organization_id, switch_id) references switch (organization_id, id) on delete cascade
);
select isolate_tenant('switch_list');

-- How far each collection is.
create table switch_collection (
  organization_id uuid not null,
  switch_id uuid not null,
  collection text not null check (collection in (
    'campaigns', 'affiliates', 'links', 'codes', 'customers', 'commissions', 'payouts')),
  place int not null,
  read int not null default 0,
  -- As the source tells it; null: it tells none.
  total int,
  written int not null default 0,
  -- Counts and sums of the items that were judged so far, for the preview.
  tally jsonb not null default '{}',
  -- The source id after which the next slice of each job begins. Judging walks a collection more than once: judged_to
  -- has the name of the walk in front.
  normalized_to text collate "C",
  judged_to text collate "C",
  written_to text collate "C",
  undone_to text collate "C",
  primary key (organization_id, switch_id, collection),
  foreign key (organization_id, switch_id) references switch (organization_id, id) on delete cascade
);
select isolate_tenant('switch_collection');

-- A row of the source as it was read, never changed by mapping or options. A mention is the data of an affiliate whom
-- only a commission or customer names.
create table switch_row (
  organization_id uuid not null,
  switch_id uuid not null,
  collection text not null,
  source_id text collate "C" not null check (length(source_id) between 1 and 300),
  data jsonb not null,
  is_mention boolean not null default false,
  -- What other lists say of it: part of data, also after a page brought it again.
  additions jsonb not null default '{}',
  -- When a page first and last had it.
  added_at timestamptz not null default now(),
  read_at timestamptz not null default now(),
  primary key (organization_id, switch_id, collection, source_id),
  foreign key (organization_id, switch_id) references switch (organization_id, id) on delete cascade
);
select isolate_tenant('switch_row');

-- A figure that the source states of itself: in all, or of one affiliate.
create table switch_figure (
  organization_id uuid not null,
  switch_id uuid not null,
  name text not null,
  -- The source id of the affiliate, customer or group; empty: in all.
  subject text not null default '',
  currency text not null default '',
  value bigint not null,
  primary key (organization_id, switch_id, name, subject, currency),
  foreign key (organization_id, switch_id) references switch (organization_id, id) on delete cascade
);
select isolate_tenant('switch_figure');

-- A row as it was understood, and what becomes of it.
create table switch_item (
  organization_id uuid not null,
  switch_id uuid not null,
  collection text not null,
  source_id text collate "C" not null,
  -- The row by the adapter: the fields of its class in domain.switches.records; null for an unreadable row.
  record jsonb,
  -- Why the row alone is left out.
  problem text,
  -- For people: an email, a code, an order.
  label text not null default '',
  -- What the same affiliate, link, customer or payment has in common.
  key text collate "C",
  affiliate_ref text,
  campaign_ref text,
  customer_ref text,
  program_id uuid,
  kind text,
  currency text,
  amount_cents bigint,
  commission_cents bigint,
  occurred_at timestamptz,
  warnings text[] not null default '{}',
  verdict text check (verdict in ('new', 'known', 'changed', 'merged', 'left_out')),
  reason text,
  -- What is written: the fields of its class in domain.switches.decisions.
  decision jsonb,
  target_type text check (target_type in (
    'program', 'affiliate', 'link', 'code', 'customer', 'conversion', 'refund')),
  target_id uuid,
  is_written boolean not null default false,
  -- Of a changed row: what undo brings back.
  former jsonb,
  primary key (organization_id, switch_id, collection, source_id),
  foreign key (organization_id, switch_id) references switch (organization_id, id) on delete cascade,
  constraint switch_item_reason check ((verdict is not distinct from 'left_out') = (reason is not null))
);
create index switch_item_key on switch_item (organization_id, switch_id, collection, key) where key is not null;
create index switch_item_affiliate on switch_item (organization_id, switch_id, affiliate_ref, collection)
  where affiliate_ref is not null;
create index switch_item_customer on switch_item (organization_id, switch_id, customer_ref)
  where customer_ref is not null;
create index switch_item_left_out on switch_item (organization_id, switch_id, collection, reason, source_id)
  where verdict = 'left_out';
-- Refunds that the switch books, by their ids: undo tells them from those that were booked here.
create index switch_item_refund on switch_item (organization_id, switch_id, target_id) where target_type = 'refund';
select isolate_tenant('switch_item');

-- Collect statistics of switch_item once it has grown by half: a switch fills it within minutes, and without statistics
-- the planner takes every index of it for equally good. Runs as the owner, because analyzing needs that.
create function refresh_switch_statistics() returns void language plpgsql security definer
set search_path from current as $$
declare
  pages_before int := (select relpages from pg_class where oid = 'switch_item'::regclass);
begin
  if pg_relation_size('switch_item') / current_setting('block_size')::int > pages_before * 3 / 2 + 100 then
    analyze switch_item (organization_id, switch_id, collection, source_id, key, affiliate_ref, customer_ref, verdict);
  end if;
end $$;
revoke execute on function refresh_switch_statistics from public;
grant execute on function refresh_switch_statistics to finderfee_app;

-- Completed runs appear among the imports.
alter table import_job add column switch_id uuid;

-- A token of the old system that cannot be a slug here, in lower case; it leads to a link.
create table old_token (
  organization_id uuid not null references organization,
  token text collate "C" not null check (length(token) between 1 and 190 and token = lower(token)),
  link_id uuid not null,
  switch_id uuid not null,
  created_at timestamptz not null,
  primary key (organization_id, token),
  foreign key (organization_id, link_id) references tracking_link (organization_id, id),
  foreign key (organization_id, switch_id) references switch (organization_id, id)
);
create index old_token_anywhere on old_token (token);
create index old_token_link on old_token (organization_id, link_id);
select isolate_tenant('old_token');

-- A customer of the old system: who is credited for their next payment here. Ids belong to no gateway.
create table brought_customer (
  id uuid not null,
  organization_id uuid not null references organization,
  program_id uuid not null,
  affiliate_id uuid not null,
  switch_id uuid not null,
  source text not null,
  source_id text not null,
  customer_id text,
  subscription_id text,
  email text,
  email_normalized text,
  name text,
  -- The first payment there; null: a lead who has not paid.
  first_paid_at timestamptz,
  payments int not null default 0 check (payments >= 0),
  -- How recent the evidence is: the newest payment there, else when they became a lead.
  seen_at timestamptz not null,
  -- Payments before it were the old system's.
  cut_over_at timestamptz not null,
  created_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, program_id, source, source_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  foreign key (organization_id, switch_id) references switch (organization_id, id),
  check (customer_id is not null or subscription_id is not null or email_normalized is not null),
  check ((first_paid_at is null) = (payments = 0))
);
create index brought_customer_by_id on brought_customer (organization_id, customer_id) where customer_id is not null;
create index brought_customer_by_subscription on brought_customer (organization_id, subscription_id)
  where subscription_id is not null;
create index brought_customer_by_inbox on brought_customer (organization_id, email_normalized)
  where email_normalized is not null;
create index brought_customer_affiliate on brought_customer (organization_id, affiliate_id);
select isolate_tenant('brought_customer');

-- Conversions of a switch do not credit later payments: brought customers do.
alter table conversion add column switch_id uuid;
