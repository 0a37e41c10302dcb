-- Credentials, and the sealed payloads they have had. A version is written once; a new payload is a new version.
create table platform.credentials (
  account_id text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  description text not null,
  type text not null,
  credential_metadata text not null,
  current_version integer not null default 1,
  created_at timestamptz not null default now(),
  created_by_identity_type text not null,
  created_by_user_id text not null,
  updated_at timestamptz not null default now(),

  constraint credentials_pkey primary key (account_id, id),
  constraint credentials_name_unique unique (account_id, name),
  constraint credentials_type_check check (type in ('key', 'json')),
  constraint credentials_current_version_check check (current_version > 0),
  constraint credentials_created_by_identity_type_check check (created_by_identity_type in ('user', 'service_account'))
) with (fillfactor = 90);

create index credentials_by_name on platform.credentials (account_id, name, id);
create index credentials_by_updated_at on platform.credentials (account_id, updated_at, id);

create table platform.credential_versions (
  account_id text collate "C" not null,
  credential_id text collate "C" not null,
  version integer not null check (version > 0),
  sealed bytea not null,
  created_at timestamptz not null default now(),

  constraint credential_versions_pkey primary key (account_id, credential_id, version),
  constraint credential_versions_credential_fkey foreign key (account_id, credential_id)
    references platform.credentials on delete cascade
);

-- Random bytes do not compress.
alter table platform.credential_versions alter column sealed set storage external;

alter table platform.credential_versions enable row level security, force row level security;
create policy own_account on platform.credential_versions
  using (account_id = nullif(current_setting('keelson.account_id', true), ''))
  with check (account_id = nullif(current_setting('keelson.account_id', true), ''));
