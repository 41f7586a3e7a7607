-- What visitors did before they bought, and the ways by which a campaign's numbers are read.

-- A click is stored whatever comes of it; outcome says what did. The visitor is known by a keyed hash alone.
-- Written on a hot path, so like a sale it reaches its organization through its affiliate.
create table click (
  id uuid primary key,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  slug text not null,
  sub_id text,
  visitor_hash bytea,
  occurred_at timestamptz not null,
  is_duplicate boolean not null default false,
  score int not null default 0,
  outcome text not null default 'recorded'
    check (outcome in ('recorded', 'earned', 'duplicate', 'held', 'blocked')),
  created_at timestamptz not null default now(),
  unique (organization_id, id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
-- Clicks are counted without touching their rows.
create index click_program on click (organization_id, program_id, occurred_at desc, id desc) include (is_duplicate);
select isolate_tenant('click');

create index conversion_program on conversion (organization_id, program_id, occurred_at desc, id desc);
-- What a budget pays for. Sales, which are most of what is written, are not in it.
create index conversion_reward on conversion (organization_id, program_id)
  where type in ('ClickReward', 'LeadReward');
-- Which currencies an organization earns in, by looking at one row of each.
create index conversion_currency on conversion (organization_id, currency);

-- An amount times a fraction, rounded once, half to even: the quotient, and one more if the doubled remainder is above
-- the divisor, an odd quotient counting as a little more. Takes what is not negative; null unless over is positive.
-- A function, because a row's fraction is dear to look up and an expression would look it up for every mention.
create function times_fraction(cents bigint, times bigint, over bigint) returns numeric
language plpgsql immutable parallel safe as $$
declare
  narrow bigint;
  wide numeric;
begin
  if over is null or over <= 0 then
    return null;
  end if;
  if cents <= 4611686018427387904 / times then
    narrow := cents * times;
    return narrow / over + (2 * (narrow % over) + (narrow / over & 1) > over)::int;
  end if;
  wide := cents::numeric * times;
  return div(wide, over) + (2 * mod(wide, over) + mod(div(wide, over), 2) > over)::int;
end $$;
