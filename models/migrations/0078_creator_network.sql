-- The creator network: what a program is about, and what the operator said of listing it. Who is listed and passes the
-- review is shown while the brand's plan and funding allow it, which every question asks anew.
alter table program
  add column category text check (category in ('Software', 'Shopping', 'Finance', 'Education', 'Health', 'Travel', 'Media',
    'Games', 'Food', 'Home', 'Services', 'Other')),
  add column network_review text check (network_review in ('Pending', 'Approved', 'Rejected')),
  -- When the review was asked for that is waited for, or that was decided.
  add column network_asked_at timestamptz,
  add column network_decided_at timestamptz,
  add column network_decided_by text,
  -- For the brand. A rejection has one.
  add column network_reason text;

set local app.any_org = 'on';
update program set network_review = 'Pending', network_asked_at = date_trunc('milliseconds', updated_at)
where network_visibility = 'Networked';

alter table program
  -- A rejected program is listed no more: whoever lists it again asks again.
  add constraint program_network_listed check (
    (network_visibility = 'Networked') = coalesce(network_review in ('Pending', 'Approved'), false)),
  add constraint program_network_review check (
    case when network_review is null then num_nonnulls(network_asked_at, network_decided_at, network_decided_by, network_reason) = 0
      when network_review = 'Pending'
        then network_asked_at is not null and num_nonnulls(network_decided_at, network_decided_by, network_reason) = 0
      else num_nulls(network_asked_at, network_decided_at, network_decided_by) = 0 end),
  add constraint program_network_reason check (network_review is distinct from 'Rejected' or network_reason is not null);

-- What affiliates browse, newest first: all of it, of one category, of one model; and what waits for an operator.
create index program_network on program (network_decided_at desc, id desc)
  where network_review = 'Approved' and archived_at is null;
create index program_network_category on program (category, network_decided_at desc, id desc)
  where network_review = 'Approved' and archived_at is null;
create index program_network_model on program
  ((case when default_commission_model in ('Cpc', 'Cpl') then default_commission_model else 'Cps' end), network_decided_at desc, id desc)
  where network_review = 'Approved' and archived_at is null;
create index program_network_queue on program (network_review, network_asked_at, id)
  where network_review is not null and archived_at is null;
-- A currency that few brands have is found from its brands.
create index organization_home_currency on organization (home_currency);
