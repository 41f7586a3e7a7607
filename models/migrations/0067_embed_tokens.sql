-- With what a brand's own site shows an affiliate what they have: one token for each affiliate, made anew by counting on.
-- The bearer value is not kept: it follows from id, generation and the service's own key.
create table embed_token (
  id uuid primary key,
  organization_id uuid not null,
  affiliate_id uuid not null,
  generation integer not null check (generation > 0),
  -- The origins whose pages may frame ours, as browsers write them.
  allowed_origins text[] not null
    check (cardinality(allowed_origins) between 1 and 10 and array_position(allowed_origins, null) is null),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  unique (organization_id, affiliate_id),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id)
);
select isolate_tenant('embed_token');
create index embed_token_list on embed_token (organization_id, created_at desc, id desc) where revoked_at is null;
