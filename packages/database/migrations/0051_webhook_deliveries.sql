-- Events accepted in durable mode: the row is the promise that was made with 202, and the log of keeping it.
create table agent.webhook_deliveries (
  account_id text collate "C" not null,
  id text collate "C" not null,
  agent_id text collate "C" not null,
  agent_name text collate "C" not null,
  key_id text collate "C" not null,
  source text not null,
  source_delivery_id text collate "C",
  path text not null,
  query text not null,
  headers text not null,
  body bytea not null,
  body_bytes integer not null generated always as (octet_length(body)) stored,
  status text not null default 'pending',
  attempts integer not null default 0,
  failures integer not null default 0,
  last_status integer,
  last_error text,
  received_at timestamptz not null default now(),
  next_attempt_at timestamptz default now(),
  claimed_until timestamptz,
  delivered_at timestamptz,

  constraint webhook_deliveries_pkey primary key (account_id, id),
  constraint webhook_deliveries_source_unique unique (account_id, key_id, source_delivery_id),
  constraint webhook_deliveries_agent_fkey foreign key (account_id, agent_id) references agent.agents,
  constraint webhook_deliveries_status_check check (status in ('pending', 'delivered', 'dead')),
  constraint webhook_deliveries_due_check check ((status = 'pending') = (next_attempt_at is not null))
) with (fillfactor = 80);

create index webhook_deliveries_due on agent.webhook_deliveries (next_attempt_at) where status = 'pending';
create index webhook_deliveries_by_age on agent.webhook_deliveries (received_at) where status <> 'pending';
create index webhook_deliveries_by_agent on agent.webhook_deliveries (account_id, agent_name, id);
create index webhook_deliveries_by_key on agent.webhook_deliveries (account_id, key_id, id);

-- Bodies are read whole or not at all; most are too short to be worth compressing.
alter table agent.webhook_deliveries alter column body set storage external;
