-- outside a transaction
-- Keys that begin with the organization, for what payouts, deals, leads, links and mails are written down in.
create unique index concurrently if not exists deal_release_key on deal_release (organization_id, payout_id);
create unique index concurrently if not exists deal_request_by_id on deal_request (organization_id, id);
create unique index concurrently if not exists deal_request_one_key on deal_request (organization_id, key);
create unique index concurrently if not exists deal_request_one_charge on deal_request (organization_id, deal_id)
  where kind = 'charge' and state <> 'rejected';
create unique index concurrently if not exists deal_request_one_refund on deal_request (organization_id, milestone_id)
  where kind = 'refund' and state <> 'rejected';
create unique index concurrently if not exists embed_token_key on embed_token (organization_id, id);
create unique index concurrently if not exists lead_key on lead (organization_id, id);
-- Anew, so that it is the newer of the two: a plan of an empty table would take the key for it (decision 49).
create unique index concurrently if not exists lead_one_event on lead (organization_id, event_id);
create unique index concurrently if not exists mail_message_key on mail_message (organization_id, id);
create unique index concurrently if not exists payout_attempt_number on payout_attempt
  (organization_id, payout_id, number);
create unique index concurrently if not exists tracking_link_key on tracking_link (organization_id, id);
create unique index concurrently if not exists tracking_link_one_default
  on tracking_link (organization_id, affiliate_id) where is_default and deleted_at is null;
-- What a rail knows is the key alone: it comes first, and a machine of several can still say that it has no other.
create unique index concurrently if not exists payout_attempt_one_key on payout_attempt (key, organization_id);
-- Asked for by who knows the id alone: strangers with a token, and operators.
create index concurrently if not exists embed_token_anywhere on embed_token (id);
create index concurrently if not exists mail_message_anywhere on mail_message (id);
-- Who comes with a secret says nothing else: it comes first. No two organizations have the same one but by a chance of
-- nothing, so its organization may stand after it, which machines of several can hold for themselves.
create unique index concurrently if not exists affiliate_invite_key on affiliate_invite (organization_id, id);
create unique index concurrently if not exists affiliate_invite_one_token on affiliate_invite
  (token_hash, organization_id);
-- A blocked click's event counts more by this key; the key by id alone stays for the last release.
-- contract: fraud_event unique btree (organization_id, id): it refuses nothing that the key by id alone let in
create unique index concurrently if not exists fraud_event_key on fraud_event (organization_id, id);
