-- Who may call: accounts, identities, API keys; and the keys that data of an account is encrypted under.
create schema identity;
create schema platform;
create schema agent;

create table identity.accounts (
  account_id text collate "C" primary key,
  name text not null constraint accounts_name_key unique,
  created_at timestamptz not null default now()
);

-- Owns the keys of the installation itself: the pepper of API keys, the MAC of the audit log.
insert into identity.accounts (account_id, name) values ('system', 'system');

create table identity.identities (
  account_id text collate "C" not null references identity.accounts,
  id text collate "C" not null,
  type text not null check (type in ('user', 'service_account')),
  name text not null,
  created_at timestamptz not null default now(),
  primary key (account_id, id),
  constraint identities_name_key unique (account_id, name)
);

-- hash is an HMAC of the token under a pepper, so it can be unique across accounts and reveals nothing. row_mac binds
-- the columns that grant something; a revoked row has none and cannot be revived by an UPDATE.
create table identity.api_keys (
  account_id text collate "C" not null,
  id text collate "C" not null,
  identity_id text collate "C" not null,
  hash bytea not null constraint api_keys_hash_key unique check (octet_length(hash) = 32),
  hint text not null,
  name text not null,
  scopes text[],
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  replaced_by text collate "C",
  row_mac bytea,
  primary key (account_id, id),
  constraint api_keys_identity_fkey foreign key (account_id, identity_id) references identity.identities,
  constraint api_keys_replaced_by_fkey foreign key (account_id, replaced_by) references identity.api_keys,
  constraint api_keys_row_mac_check check ((row_mac is null) = (revoked_at is not null))
) with (fillfactor = 90);

create table identity.account_keys (
  account_id text collate "C" not null references identity.accounts,
  version integer not null check (version > 0),
  state text not null check (state in ('active', 'decrypt_only', 'destroyed')),
  kek_id text collate "C" not null,
  wrapped bytea not null,
  created_at timestamptz not null default now(),
  primary key (account_id, version)
);

create unique index account_keys_active_key on identity.account_keys (account_id) where state = 'active';
create index account_keys_kek_id_idx on identity.account_keys (kek_id);

-- One random value wrapped under each key-encryption key in use: a service proves at boot that it holds the right ones.
create table identity.key_canary (
  kek_id text collate "C" primary key,
  wrapped bytea not null,
  digest bytea not null,
  created_at timestamptz not null default now()
);

-- A transaction names its account: set_config('keelson.account_id', ..., true). Unset it reads NULL or '', and no row
-- is visible. Account keys are always asked for by account, so the rule binds even the owner of the table. API keys
-- are asked for by hash before the account is known: two functions run as the owner, everything else is bound.
alter table identity.account_keys enable row level security, force row level security;
create policy own_account on identity.account_keys
  using (account_id = nullif(current_setting('keelson.account_id', true), ''))
  with check (account_id = nullif(current_setting('keelson.account_id', true), ''));

alter table identity.api_keys enable row level security;
create policy own_account on identity.api_keys
  using (account_id = nullif(current_setting('keelson.account_id', true), ''))
  with check (account_id = nullif(current_setting('keelson.account_id', true), ''));

create function identity.find_api_key(key_hash bytea)
returns table (
  account_id text, id text, identity_id text, identity_type text, hash bytea, scopes text[],
  expires_at timestamptz, expires_in_ms double precision, row_mac bytea
)
language sql stable security definer set search_path = ''
begin atomic
  select k.account_id, k.id, k.identity_id, i.type, k.hash, k.scopes,
    k.expires_at, extract(epoch from k.expires_at - now())::double precision * 1000, k.row_mac
  from identity.api_keys k
  join identity.identities i on i.account_id = k.account_id and i.id = k.identity_id
  where k.hash = key_hash and k.revoked_at is null;
end;

create function identity.touch_api_keys(account_ids text[], ids text[], times timestamptz[])
returns void
language sql volatile security definer set search_path = ''
begin atomic
  update identity.api_keys k
  set last_used_at = used.at
  from unnest(account_ids, ids, times) as used (account_id, id, at)
  where k.account_id = used.account_id and k.id = used.id
    and (k.last_used_at is null or k.last_used_at < used.at);
end;

revoke all on function identity.find_api_key(bytea), identity.touch_api_keys(text[], text[], timestamptz[]) from public;

-- Tells every replica to forget what it remembers about a key, new ones included: one may have been asked for too early.
create function identity.announce_api_key() returns trigger
language plpgsql set search_path = ''
as $$
begin
  perform pg_catalog.pg_notify('keelson_api_key', pg_catalog.encode(coalesce(old.hash, new.hash), 'hex'));
  return null;
end
$$;

create trigger announce_api_key
  after insert or delete or update of account_id, id, identity_id, hash, scopes, expires_at, revoked_at, row_mac
  on identity.api_keys
  for each row execute function identity.announce_api_key();
