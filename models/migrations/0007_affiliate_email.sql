-- A person is looked up by their email across campaigns (their slug) and across tenants (have they an account).
create index affiliate_person on affiliate (email) where deleted_at is null;
