-- Whether a member's email address is known to be theirs: no other address gets emails. What an identity provider said
-- before is unknown; it says so again at the next sign-in.
alter table member add column is_email_verified boolean not null default true;

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
update member set is_email_verified = false where subject is not null and subject not like 'local:%';
