-- Affiliates, their accounts, invitations, links and tax forms.

-- An affiliate's account belongs to no tenant: one person, one sign-in, one slug of their own.
create table affiliate_account (
  id uuid primary key,
  subject text not null unique,
  email text not null,
  slug text unique check (slug = lower(slug)),
  created_at timestamptz not null default now(),
  -- The payout account that the person chose. Their choice applies in every organization; the account that an
  -- organization's operator or import sets applies there, for people who chose none.
  payout_method text check (payout_method in ('ProcessorConnect', 'Wallet', 'GlobalPayouts')),
  payout_destination text,
  payout_changed_at timestamptz,
  constraint affiliate_account_payout check (
    (payout_method is null) = (payout_destination is null) and (payout_method is null) = (payout_changed_at is null))
);
create index affiliate_account_email on affiliate_account (email);
grant select, insert, update on affiliate_account to finderfee_app;

-- An import from another service. Its rows refer to it.
create table import_job (
  id uuid not null,
  organization_id uuid not null references organization,
  kind text not null check (kind in ('Affiliates', 'Conversions')),
  status text not null check (status in ('Completed', 'Undone')),
  total int not null check (total >= 0),
  imported int not null check (imported >= 0),
  skipped int not null check (skipped >= 0),
  errored int not null check (errored >= 0),
  reasons jsonb not null,
  created_by uuid,
  created_at timestamptz not null,
  finished_at timestamptz,
  undone_at timestamptz,
  -- warnings: where the import deviates from its rows, row by row. source: the service that conversions came from.
  warnings jsonb not null default '[]',
  source text,
  check (total = imported + skipped + errored),
  constraint import_job_undone check ((status = 'Undone') = (undone_at is not null))
);
create index import_job_list on import_job (organization_id, created_at desc, id desc);
create index import_job_empty on import_job (created_at) where status = 'Undone' or imported = 0;
alter table import_job add primary key (organization_id, id);
select isolate_tenant('import_job');

create table affiliate (
  id uuid primary key,
  organization_id uuid not null references organization,
  program_id uuid not null,
  email text not null,
  email_normalized text not null,
  full_name text not null default '',
  status text not null check (status in ('Pending', 'Approved', 'Rejected', 'Paused', 'Banned')),
  custom_commission_type text check (custom_commission_type in ('Percentage', 'Fixed')),
  custom_commission_value numeric(20, 6) check (custom_commission_value >= 0),
  partner_group_id uuid,
  recruited_by_affiliate_id uuid,
  tags text[] not null default '{}',
  notes text not null default '',
  source text not null check (source in ('Direct', 'Public', 'Invite', 'Network')),
  application_data jsonb,
  is_test boolean not null default false,
  applied_at timestamptz not null default now(),
  approved_at timestamptz,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  account_id uuid references affiliate_account,
  rejection_reason text,
  -- The payout account of an imported affiliate; never shown with affiliates.
  wallet_email text,
  import_job_id uuid,
  custom_commission_currency text,
  payout_method text check (payout_method in ('ProcessorConnect', 'Wallet', 'GlobalPayouts')),
  payout_destination text,
  -- A column, since an index of an expression that is not leakproof cannot be used behind row-level security.
  name_sought text generated always as (lower(full_name)) stored,
  -- When the second step of the application form was first sent, and when the applicant was last emailed about it.
  application_completed_at timestamptz,
  application_asked_at timestamptz,
  -- When the applicant was emailed about the rejection, so that they are emailed once.
  rejection_mailed_at timestamptz,
  unique (organization_id, id),
  unique (organization_id, program_id, id),
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, program_id, partner_group_id)
    references partner_group (organization_id, program_id, id),
  -- One level of recruiting, within one program.
  foreign key (organization_id, program_id, recruited_by_affiliate_id)
    references affiliate (organization_id, program_id, id),
  check (recruited_by_affiliate_id <> id),
  check ((custom_commission_type is null) = (custom_commission_value is null)),
  constraint affiliate_import_job foreign key (organization_id, import_job_id)
    references import_job (organization_id, id),
  constraint affiliate_commission_currency
    check ((custom_commission_type is not distinct from 'Fixed') = (custom_commission_currency is not null)),
  constraint affiliate_payout check ((payout_method is null) = (payout_destination is null))
);
create unique index affiliate_email on affiliate (organization_id, program_id, email) where deleted_at is null;
create index affiliate_list on affiliate (organization_id, created_at desc, id desc) where deleted_at is null;
create index affiliate_program_list on affiliate (organization_id, program_id, created_at desc, id desc)
  where deleted_at is null;
create index affiliate_recruits on affiliate (organization_id, recruited_by_affiliate_id)
  where recruited_by_affiliate_id is not null;
-- Finds a person by email across programs (for their slug) and across tenants (for their account).
create index affiliate_person on affiliate (email) where deleted_at is null;
create index affiliate_account_rows on affiliate (account_id) where account_id is not null;
create index affiliate_pending on affiliate (organization_id, created_at desc, id desc)
  where status = 'Pending' and deleted_at is null;
create index affiliate_imported on affiliate (organization_id, import_job_id) where import_job_id is not null;
-- Counts the affiliates of a group.
create index affiliate_group on affiliate (organization_id, program_id, partner_group_id)
  where partner_group_id is not null and deleted_at is null;
create index affiliate_name_list on affiliate (organization_id, name_sought, id) where deleted_at is null;
create index affiliate_status_list on affiliate (organization_id, status, created_at desc, id desc)
  where deleted_at is null;
-- Affiliates of one status by name. Without it, those of a rare status are searched among all names, and those of a
-- frequent one are sorted on each request.
create index affiliate_status_name_list on affiliate (organization_id, status, name_sought, id) where deleted_at is null;
-- Affiliates of a program by status and by name.
create index affiliate_program_status_list
  on affiliate (organization_id, program_id, status, created_at desc, id desc) where deleted_at is null;
create index affiliate_program_name_list
  on affiliate (organization_id, program_id, name_sought, id) where deleted_at is null;
create index affiliate_program_status_name_list
  on affiliate (organization_id, program_id, status, name_sought, id) where deleted_at is null;
select isolate_tenant('affiliate');

-- Invitations to a program. The token in the email is stored as a hash; anyone who has it may see and accept the
-- invitation.
create table affiliate_invite (
  id uuid not null,
  organization_id uuid not null references organization,
  program_id uuid not null,
  email text not null,
  full_name text not null default '',
  -- The slug that the brand requested, and the one that the person got (null: a random one).
  slug text check (slug = lower(slug)),
  kept_slug text,
  personal_note_html text,
  custom_commission_type text check (custom_commission_type in ('Percentage', 'Fixed')),
  custom_commission_value numeric(20, 6) check (custom_commission_value >= 0),
  auto_approve boolean not null,
  is_test boolean not null default false,
  state text not null default 'Pending' check (state in ('Pending', 'Accepted', 'Expired', 'Revoked')),
  token_hash bytea not null,
  affiliate_id uuid,
  invited_by uuid,
  sent_at timestamptz,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  created_at timestamptz not null,
  custom_commission_currency text,
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  check ((custom_commission_type is null) = (custom_commission_value is null)),
  check ((state = 'Accepted') = (accepted_at is not null and affiliate_id is not null)),
  constraint affiliate_invite_commission_currency
    check ((custom_commission_type is not distinct from 'Fixed') = (custom_commission_currency is not null))
);
create index affiliate_invite_list on affiliate_invite (organization_id, created_at desc, id desc);
create unique index affiliate_invite_pending on affiliate_invite (organization_id, program_id, email)
  where state = 'Pending';
create index affiliate_invite_promise on affiliate_invite (email, accepted_at desc) where kept_slug is not null;
create index affiliate_invite_due on affiliate_invite (expires_at) where state = 'Pending';
create index affiliate_invite_over on affiliate_invite (expires_at) where state in ('Expired', 'Revoked');
alter table affiliate_invite add primary key (organization_id, id);
create unique index affiliate_invite_token_hash_key on affiliate_invite (token_hash, organization_id);
select isolate_tenant('affiliate_invite');

-- Slugs are stored in lower case. A person's default slug may exist in several programs of an organization.
create table tracking_link (
  id uuid not null,
  organization_id uuid not null references organization,
  program_id uuid not null,
  affiliate_id uuid not null,
  slug text not null check (slug = lower(slug)),
  custom_alias text,
  is_default boolean not null,
  format text not null default 'Short' check (format in ('Short', 'Query', 'Path', 'Hash')),
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- The bare slug belongs to another organization or to an older link, so that the link is shared with its program in
  -- the address.
  needs_program boolean not null default false,
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
create unique index tracking_link_slug on tracking_link (organization_id, slug, program_id) where deleted_at is null;
create index tracking_link_affiliate on tracking_link (organization_id, affiliate_id);
-- Finds a slug in the whole service.
create index tracking_link_anywhere on tracking_link (slug) where deleted_at is null;
alter table tracking_link add primary key (organization_id, id);
create unique index tracking_link_default
  on tracking_link (organization_id, affiliate_id) where is_default and deleted_at is null;
select isolate_tenant('tracking_link');

-- Give the bare slug to the first organization that uses it, and there to one existing link at a time. A link that was
-- shared with its program stays so: it must not get the visitors of a link that ended. Runs as the owner, because no
-- tenant may see whether others use a slug; it reveals only that bit. The second statement sees the changes that the
-- previous transaction with this slug committed.
create function mark_needs_program() returns trigger language plpgsql volatile security definer
set app.any_org = 'on' set search_path from current as $$
declare
  first_had_by uuid;
begin
  insert into bare_slug (slug, organization_id) values (new.slug, new.organization_id)
  on conflict (slug) do update set slug = excluded.slug returning organization_id into first_had_by;
  new.needs_program := first_had_by <> new.organization_id or exists (
    select from tracking_link l
    where l.organization_id = new.organization_id and l.slug = new.slug and l.deleted_at is null and not l.needs_program
  );
  return new;
end $$;
create trigger needs_program before insert on tracking_link
  for each row execute function mark_needs_program();

-- Reserve the address (slug of the program and of the link) for the organization. Waits for a rename of the program
-- that in progress, and the next rename waits for it: one of the two statements sees the commit of the other, so that
-- no link is without its address.
create function keep_link_address() returns trigger language plpgsql volatile security definer
set app.any_org = 'on' set search_path from current as $$
declare
  named text;
begin
  select slug into named from program
  where organization_id = new.organization_id and id = new.program_id for key share;
  insert into link_address (program_slug, slug, organization_id) values (named, new.slug, new.organization_id)
  on conflict do nothing;
  return null;
end $$;
create trigger keep_link_address after insert on tracking_link
  for each row execute function keep_link_address();

-- The organization of each bare slug, forever: links are shared, and no other organization may get their visitors. Only
-- the functions below read it. Its row is also the lock for transactions that use the same slug at once; an import
-- would need more advisory locks than the server has.
create table bare_slug (
  slug text primary key,
  organization_id uuid not null
);

-- The organization of each address with a program's slug, forever. Rows outlive links and names of programs; only
-- triggers write them.
create table link_address (
  program_slug text not null,
  slug text not null,
  organization_id uuid not null,
  primary key (slug, program_slug)
);
select isolate_tenant('link_address');
revoke insert, update, delete on link_address from finderfee_app;

-- Whether a new link with this slug would need its program in the address, for the organization of the transaction.
-- Takes no lock.
create function is_slug_taken_anywhere(wanted text) returns boolean language sql stable security definer
set app.any_org = 'on' set search_path from current as $$
  select exists (
    select from bare_slug b
    where b.slug = wanted and b.organization_id <> nullif(current_setting('app.org', true), '')::uuid
  ) or exists (
    select from tracking_link l
    where l.organization_id = nullif(current_setting('app.org', true), '')::uuid and l.slug = wanted
      and l.deleted_at is null and not l.needs_program
  )
$$;

-- Of these people (by email), those who would get a slug that is taken. An affiliate of this organization may get their
-- own slug again, regardless of others. About other organizations and accounts it reveals one bit, the same for every
-- email: even with the right email it must not reveal whose slug it is.
create function slugs_of_others(wanted_slugs text[], for_emails text[])
returns table (wanted_slug text, for_email text) language sql stable set app.any_org = 'on' as $$
  with own as (
    select l.slug, a.email, a.deleted_at is not null as is_gone from tracking_link l
    join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
    where l.organization_id = nullif(current_setting('app.org', true), '')::uuid
      and l.slug = any(wanted_slugs) and l.deleted_at is null
  )
  select w.slug, w.email from unnest(wanted_slugs, for_emails) as w (slug, email)
  where exists (select from own where own.slug = w.slug and (own.email <> w.email or own.is_gone))
     or not exists (select from own where own.slug = w.slug)
        and (exists (select from affiliate_account a where a.slug = w.slug)
             or exists (select from tracking_link l where l.slug = w.slug and l.deleted_at is null))
$$;

-- The token by which a brand's own site shows an affiliate their figures: one per affiliate, replaced by counting up
-- generation. The value is not stored; it is derived from id, generation and the service's key.
create table embed_token (
  id uuid not null,
  organization_id uuid not null,
  affiliate_id uuid not null,
  generation integer not null check (generation > 0),
  -- The origins whose pages may frame ours, in the form that browsers send.
  allowed_origins text[] not null
    check (cardinality(allowed_origins) between 1 and 10 and array_position(allowed_origins, null) is null),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  unique (organization_id, affiliate_id),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id)
);
create index embed_token_list on embed_token (organization_id, created_at desc, id desc) where revoked_at is null;
alter table embed_token add primary key (organization_id, id);
-- Finds a row by its id alone, for callers with a token and for operators.
create index embed_token_anywhere on embed_token (id);
select isolate_tenant('embed_token');

-- The valid form of an affiliate: a sealed file here, or one at the payout provider.
create table tax_form (
  id uuid not null,
  organization_id uuid not null references organization,
  affiliate_id uuid not null,
  type text check (type in ('W9', 'W8BEN', 'W8BENE')),
  file_id uuid,
  held_by_stripe boolean not null default false,
  submitted_at timestamptz not null,
  unique (organization_id, affiliate_id),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id),
  foreign key (organization_id, file_id) references stored_file (organization_id, id),
  check (held_by_stripe = (file_id is null) and held_by_stripe = (type is null))
);
alter table tax_form add primary key (organization_id, id);
select isolate_tenant('tax_form');
