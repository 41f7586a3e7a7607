-- Invitations to a campaign. The token in the mail is kept as a hash; whoever holds it may look and accept.
create table affiliate_invite (
  id uuid primary key,
  organization_id uuid not null references organization,
  program_id uuid not null,
  email text not null,
  full_name text not null default '',
  -- What the brand asked for, and what the person was given when they accepted (null: a random one).
  slug text check (slug = lower(slug)),
  kept_slug text,
  personal_note_html text,
  custom_commission_type text check (custom_commission_type in ('Percentage', 'Fixed')),
  custom_commission_value numeric(20, 6) check (custom_commission_value >= 0),
  auto_approve boolean not null,
  is_test boolean not null default false,
  state text not null default 'Pending' check (state in ('Pending', 'Accepted', 'Expired', 'Revoked')),
  token_hash bytea not null unique,
  affiliate_id uuid,
  invited_by uuid,
  sent_at timestamptz,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  created_at timestamptz not null,
  unique (organization_id, id),
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  check ((custom_commission_type is null) = (custom_commission_value is null)),
  check ((state = 'Accepted') = (accepted_at is not null and affiliate_id is not null))
);
create index affiliate_invite_list on affiliate_invite (organization_id, created_at desc, id desc);
create unique index affiliate_invite_pending on affiliate_invite (organization_id, program_id, email) where state = 'Pending';
create index affiliate_invite_promise on affiliate_invite (email, accepted_at desc) where kept_slug is not null;
create index affiliate_invite_due on affiliate_invite (expires_at) where state = 'Pending';
select isolate_tenant('affiliate_invite');

-- A promised slug is looked for in the whole service.
create index tracking_link_anywhere on tracking_link (slug) where deleted_at is null;

-- Which of these people (by email) would be given a slug that somebody else has, anywhere in the service. That one bit
-- is all that a tenant's transaction learns of the others; the setting holds for the function alone.
create function slugs_of_others(wanted_slugs text[], for_emails text[])
returns table (wanted_slug text, for_email text) language sql stable set app.any_org = 'on' as $$
  select w.slug, w.email from unnest(wanted_slugs, for_emails) as w (slug, email)
  where exists (select from affiliate_account a where a.slug = w.slug and a.email <> w.email)
     or exists (select from tracking_link l
                join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
                where l.slug = w.slug and l.deleted_at is null and (a.email <> w.email or a.deleted_at is not null))
$$;
