-- Sign-in links that are mailed, and how many letters with one an address gets.

-- The browser that asked for a mailed link, by the hash of its cookie: opening the link signs it in, any other has to
-- say so. Null: a link from the shell.
alter table sign_in_link add column asked_by bytea check (length(asked_by) = 32);

-- An address has three places; each is free again an hour after it was taken.
create table sign_in_letter (
  email_hash bytea not null check (length(email_hash) = 32),
  place smallint not null check (place between 1 and 3),
  expires_at timestamptz not null,
  primary key (email_hash, place)
);
create index sign_in_letter_end on sign_in_letter (expires_at);
grant select, insert, update, delete on sign_in_letter to finderfee_app;
