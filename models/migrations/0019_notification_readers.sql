-- Whether a member's email address was verified when they last signed in, or an operator entered it: no other address
-- gets emails. A member who claimed an unverified address has a session that says so, or signs in again.
alter table member add column is_email_verified boolean not null default false;

-- What a member has read, and which notifications they switched off.
create table notification_reader (
  organization_id uuid not null,
  member_id uuid not null,
  -- The number of the latest notification that they have read.
  read_number bigint not null default 0,
  emails_off text[] not null default '{}' check (array_position(emails_off, null) is null),
  bell_off text[] not null default '{}' check (array_position(bell_off, null) is null),
  primary key (organization_id, member_id),
  foreign key (organization_id, member_id) references member (organization_id, id) on delete cascade
);
select isolate_tenant('notification_reader');

set local app.any_org = 'on';
update member m set is_email_verified = true
where email <> '' and not exists (
  select from web_session s
  where s.kind = 'member' and s.organization_id = m.organization_id and s.subject = m.subject
    and not s.is_email_verified);
