-- Where a brand's pages load our script from, and the public name that a pixel of theirs goes by. Set by the operator.

alter table organization
  add column pixel_public_key text,
  -- A host of the brand's own that leads to this service; it counts once the operator has seen that it does.
  add column tracking_domain text check (tracking_domain = lower(tracking_domain)),
  add column tracking_domain_verified boolean not null default false;
create unique index organization_tracking_domain on organization (tracking_domain) where tracking_domain_verified;
