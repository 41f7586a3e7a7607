-- What rewards for clicks and leads have cost a program, for its budget; and how many paid leads a day are welcome.

-- How many leads of the hosted form one affiliate may bring to one program in a UTC day.
alter table organization add column leads_per_day int not null default 100 check (leads_per_day between 1 and 1000000);

-- The cost is the sum of a program's rows. A change adds a row and locks none, so whoever denies, refunds or validates
-- conversions waits for nobody; who reads the sum under the budget's lock folds the rows from time to time.
create table reward_spend (
  id bigint generated always as identity primary key,
  organization_id uuid not null,
  program_id uuid not null,
  currency text not null,
  spent_cents numeric(30) not null,
  foreign key (organization_id, program_id) references program (organization_id, id)
);
create index reward_spend_program on reward_spend (organization_id, program_id) include (currency, spent_cents);
select isolate_tenant('reward_spend');

-- What a conversion takes from the budget: what a click or lead still earns. Sales and rehearsals take nothing.
create function reward_cents(one conversion) returns bigint language sql immutable as $$
  select case
    when one.type in ('ClickReward', 'LeadReward') and not one.is_test
      and one.status not in ('Denied', 'Invalidated', 'Refunded')
    then one.commission_cents - one.reversed_cents else 0 end
$$;

-- A conversion keeps its program and its currency for life.
create function note_reward_spend() returns trigger language plpgsql as $$
declare
  subject conversion;
  change bigint;
begin
  if tg_op = 'INSERT' then
    subject := new;
    change := reward_cents(new);
  elsif tg_op = 'DELETE' then
    subject := old;
    change := -reward_cents(old);
  else
    subject := new;
    change := reward_cents(new) - reward_cents(old);
  end if;
  if change <> 0 then
    insert into reward_spend (organization_id, program_id, currency, spent_cents)
      values (subject.organization_id, subject.program_id, subject.currency, change);
  end if;
  return null;
end $$;

-- The conditions are tested without a call, so a sale pays nothing for them.
create trigger reward_spend_new after insert on conversion for each row
  when (new.type in ('ClickReward', 'LeadReward')) execute function note_reward_spend();
create trigger reward_spend_changed after update on conversion for each row
  when (old.type in ('ClickReward', 'LeadReward')) execute function note_reward_spend();
create trigger reward_spend_gone after delete on conversion for each row
  when (old.type in ('ClickReward', 'LeadReward')) execute function note_reward_spend();

set local app.any_org = 'on';
insert into reward_spend (organization_id, program_id, currency, spent_cents)
  select organization_id, program_id, currency, sum(reward_cents(c))
  from conversion c where type in ('ClickReward', 'LeadReward')
  group by organization_id, program_id, currency having sum(reward_cents(c)) <> 0;

-- One paid lead per person and program, for good; and how many an affiliate has brought today.
create index lead_form_person on lead (organization_id, program_id, email_normalized) where method = 'lead_form';
create index lead_form_day on lead (organization_id, affiliate_id, occurred_at) where method = 'lead_form';
