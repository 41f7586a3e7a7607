-- Sessions at the pages that an identity provider vouches for.

-- issuer: whose word it is; null: a one-time link of our own. refreshed_at: when it last said who the person is;
-- refresh_from: when it is asked again, with the refresh token where it gave one. is_login_dated: whether anybody said
-- when the person logged in; where nobody did, signed_in_at is when they came, and no login is fresh.
alter table web_session
  add column issuer text,
  add column refreshed_at timestamptz,
  add column refresh_from timestamptz,
  add column refresh_sealed bytea,
  add column is_login_dated boolean not null default true,
  add check ((issuer is null) = (refreshed_at is null)),
  add check ((issuer is null) = (refresh_from is null)),
  add check (issuer is not null or refresh_sealed is null),
  add check (issuer is not null or is_login_dated);
