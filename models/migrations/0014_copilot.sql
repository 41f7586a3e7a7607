-- The co-pilot: conversations, proposed actions, and how much of the model was used (decision 38).

create table copilot_conversation (
  id uuid not null,
  organization_id uuid not null,
  member_id uuid not null,
  title text not null,
  state text not null check (state in ('Answered', 'Thinking', 'Working', 'Asking', 'Failed')),
  failure text check ((failure is not null) = (state = 'Failed')),
  -- Each counts up: requests to the model, those of the last question, questions, entries.
  turn integer not null check (turn >= 0),
  rounds integer not null check (rounds >= 0),
  questions integer not null check (questions > 0),
  entries integer not null check (entries > 0),
  -- The person's role at the last question, and the tools of that role as the model gets them.
  role text not null,
  tools text not null,
  -- Since when the model's requested reads are being done.
  begun_at timestamptz,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  foreign key (organization_id, member_id) references member (organization_id, id) on delete cascade
);
create index copilot_conversation_list on copilot_conversation (organization_id, member_id, created_at desc, id desc);
create index copilot_conversation_over on copilot_conversation (changed_at);
alter table copilot_conversation add primary key (organization_id, id);
select isolate_tenant('copilot_conversation');

create table copilot_entry (
  organization_id uuid not null,
  conversation_id uuid not null,
  number integer not null,
  kind text not null check (kind in ('Question', 'Reply', 'Result')),
  text text not null,
  -- The requests of a reply, as {id, tool, arguments}; and which of these a result answers.
  calls jsonb not null default '[]',
  call_id text check ((call_id is not null) = (kind = 'Result')),
  created_at timestamptz not null,
  primary key (organization_id, conversation_id, number),
  foreign key (organization_id, conversation_id) references copilot_conversation (organization_id, id) on delete cascade
);
create unique index copilot_entry_result on copilot_entry (organization_id, conversation_id, call_id)
  where call_id is not null;
select isolate_tenant('copilot_entry');

create table copilot_act (
  id uuid not null,
  organization_id uuid not null,
  conversation_id uuid not null,
  call_id text not null,
  tool text not null,
  arguments jsonb not null,
  preview jsonb not null,
  state text not null check (state in ('Proposed', 'Running', 'Done', 'Failed', 'Declined', 'Expired')),
  result jsonb,
  begun_at timestamptz check ((begun_at is not null) or state not in ('Running', 'Done', 'Failed')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  unique (organization_id, conversation_id, call_id),
  foreign key (organization_id, conversation_id) references copilot_conversation (organization_id, id) on delete cascade
);
alter table copilot_act add primary key (organization_id, id);
select isolate_tenant('copilot_act');

create table copilot_day (
  organization_id uuid not null references organization,
  day date not null,
  requests integer not null check (requests >= 0),
  tokens bigint not null check (tokens >= 0),
  primary key (organization_id, day)
);
select isolate_tenant('copilot_day');
