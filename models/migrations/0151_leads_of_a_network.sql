-- How many leads of an affiliate the pages sent from one network within an hour: a burst is a fraud event. Of the address
-- only the keyed hash of its network is stored, for a day at most.
create table lead_network (
  organization_id uuid not null,
  affiliate_id uuid not null,
  network bytea not null,
  since timestamptz not null,
  leads int not null check (leads > 0),
  primary key (organization_id, affiliate_id, network),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id)
);
create index lead_network_over on lead_network (since);
select isolate_tenant('lead_network');
