-- Who came through a campaign's checkout door: a browser, or somebody who gave an email. A row of each, not of each visit.
create table door_visit (
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  slug text not null,
  -- The keyed hash of a browser at an address, as clicks have it.
  visitor text,
  email_normalized text,
  is_test boolean not null,
  -- Since when they came without a longer break than the campaign's cookie window, and until when that counts.
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

-- An address with a campaign's slug is looked for in the whole service.
create index program_door on program (slug) where hosted_checkout_door_enabled;
