-- Who signs in: people of a brand through the dashboard's identity provider, affiliates through theirs.

-- A member is known by the subject of their token; one that an operator made is claimed at the first sign-in
-- with the same verified email.
alter table member add column subject text;
alter table member drop constraint member_organization_id_email_key;
create unique index member_subject on member (organization_id, subject) where subject is not null;
create unique index member_unclaimed_email on member (organization_id, email) where subject is null;

-- An affiliate's account stands above all tenants: one person, one sign-in, one referral slug of their own.
create table affiliate_account (
  id uuid primary key,
  subject text not null unique,
  email text not null,
  slug text unique check (slug = lower(slug)),
  created_at timestamptz not null default now()
);
create index affiliate_account_email on affiliate_account (email);
grant select, insert, update on affiliate_account to finderfee_app;

alter table affiliate add column account_id uuid references affiliate_account;
create index affiliate_account_rows on affiliate (account_id) where account_id is not null;
