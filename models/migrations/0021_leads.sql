-- Who said who they are before they paid, so that a later sale is credited.

-- A lead and its conversion have one id, and stand or fall together. event_id is what the conversion is known by: the
-- id that the brand sent, or one made of the lead's own. Test keys' leads are apart, as their sales are.
create table lead (
  id uuid primary key,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  email text not null,
  email_normalized text not null,
  name text,
  external_event_id text,
  event_id text not null,
  sub_id text,
  method text not null check (method in ('lead_signup', 'lead_form')),
  state text not null default 'Open' check (state in ('Open', 'Converted', 'Expired', 'Invalidated')),
  converted_by_conversion_id uuid,
  converted_at timestamptz,
  is_test boolean not null,
  occurred_at timestamptz not null,
  expires_at timestamptz not null,
  unique (organization_id, id),
  unique (organization_id, event_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  foreign key (organization_id, id) references conversion (organization_id, id) deferrable initially deferred,
  foreign key (organization_id, converted_by_conversion_id) references conversion (organization_id, id)
    deferrable initially deferred,
  check ((converted_by_conversion_id is null) = (converted_at is null)),
  check (state <> 'Converted' or converted_by_conversion_id is not null)
);
-- One signup per person and affiliate. What was invalidated stays in the way; what expired does not. A lead that is
-- paid is another row than the signup of the same person.
create unique index lead_person on lead (organization_id, affiliate_id, email_normalized, method, is_test)
  where external_event_id is null and state <> 'Expired';
-- Whom a sale's buyer was sent by: the newest lead first.
create index lead_match on lead (organization_id, email_normalized, occurred_at desc, id desc)
  where state <> 'Invalidated';
create index lead_open on lead (expires_at) where state = 'Open';
select isolate_tenant('lead');
