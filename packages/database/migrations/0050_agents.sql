-- Agents and the keys that let webhooks in. A deleted agent keeps its row, so that its name stays its account's.
create table agent.agents (
  account_id text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  description text not null,
  acp_url text not null,
  acp_type text not null,
  agent_input_type text,
  registration_metadata text,
  status text not null,
  status_reason text,
  registered_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,

  constraint agents_pkey primary key (account_id, id),
  constraint agents_name_unique unique (account_id, name),
  constraint agents_acp_type_check check (acp_type in ('sync', 'async', 'agentic')),
  constraint agents_agent_input_type_check check (agent_input_type in ('text', 'json'))
);

-- The ingress is addressed by name alone.
create index agents_by_public_name on agent.agents (name) where deleted_at is null;

-- What the ingress signs with when it calls the agent.
create table agent.signing_secrets (
  account_id text collate "C" not null,
  agent_id text collate "C" not null,
  version integer not null check (version > 0),
  sealed bytea not null,
  created_at timestamptz not null default now(),

  constraint signing_secrets_pkey primary key (account_id, agent_id, version),
  constraint signing_secrets_agent_fkey foreign key (account_id, agent_id) references agent.agents on delete cascade
);

create table agent.agent_api_keys (
  account_id text collate "C" not null,
  id text collate "C" not null,
  agent_id text collate "C" not null,
  name text collate "C" not null,
  source text not null,
  verification text,
  forward_path text,
  delivery text not null,
  created_at timestamptz not null default now(),
  rotated_at timestamptz,
  previous_expires_at timestamptz,
  failing_since timestamptz,
  disabled_at timestamptz,

  constraint agent_api_keys_pkey primary key (account_id, id),
  constraint agent_api_keys_name_unique unique (account_id, agent_id, name, source),
  constraint agent_api_keys_agent_fkey foreign key (account_id, agent_id) references agent.agents on delete cascade,
  constraint agent_api_keys_source_check check (source in ('external', 'github', 'slack')),
  constraint agent_api_keys_verification_check check ((verification in ('key', 'standard_webhooks')) is true or source <> 'external'),
  constraint agent_api_keys_delivery_check check (delivery in ('sync', 'durable'))
);

-- One row for the secret in use and, for a while, one for the secret before it. Of a key that is shown rather than
-- signed with, only a digest is sealed.
create table agent.agent_api_key_secrets (
  account_id text collate "C" not null,
  key_id text collate "C" not null,
  version integer not null check (version > 0),
  sealed bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,

  constraint agent_api_key_secrets_pkey primary key (account_id, key_id, version),
  constraint agent_api_key_secrets_key_fkey foreign key (account_id, key_id)
    references agent.agent_api_keys on delete cascade
);

alter table agent.signing_secrets enable row level security, force row level security;
create policy own_account on agent.signing_secrets
  using (account_id = nullif(current_setting('keelson.account_id', true), ''))
  with check (account_id = nullif(current_setting('keelson.account_id', true), ''));

alter table agent.agent_api_key_secrets enable row level security, force row level security;
create policy own_account on agent.agent_api_key_secrets
  using (account_id = nullif(current_setting('keelson.account_id', true), ''))
  with check (account_id = nullif(current_setting('keelson.account_id', true), ''));

-- The one look across accounts: a webhook names an agent, and the account follows from the secret that verifies it.
-- It binds itself to one account after the other, and to none at the end.
create function agent.find_webhook_keys(agent_name text)
returns table (
  account_id text, agent_id text, acp_url text, key_id text, name text, source text, verification text,
  forward_path text, delivery text, is_disabled boolean, version integer, sealed bytea,
  signing_version integer, signing_sealed bytea
)
language plpgsql volatile set search_path = ''
as $$
#variable_conflict use_column
declare
  found_agent record;
begin
  for found_agent in
    select a.account_id, a.id, a.acp_url from agent.agents a where a.name = agent_name and a.deleted_at is null
  loop
    perform pg_catalog.set_config('keelson.account_id', found_agent.account_id, true);
    return query
      select found_agent.account_id, found_agent.id, found_agent.acp_url, k.id, k.name, k.source, k.verification,
        k.forward_path, k.delivery, k.disabled_at is not null, s.version, s.sealed, g.version, g.sealed
      from agent.agent_api_keys k
      join agent.agent_api_key_secrets s on s.account_id = k.account_id and s.key_id = k.id
        and (s.expires_at is null or s.expires_at > now())
      cross join lateral (
        select version, sealed from agent.signing_secrets
        where account_id = found_agent.account_id and agent_id = found_agent.id order by version desc limit 1
      ) g
      where k.account_id = found_agent.account_id and k.agent_id = found_agent.id;
  end loop;
  perform pg_catalog.set_config('keelson.account_id', '', true);
end
$$;
