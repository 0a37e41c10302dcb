-- Who did what to which secret. Services append and read what is their account's; nobody changes a row. Afterwards a
-- sealer covers rows by numbered seals, each a MAC over its rows and the seal before it, so that any change shows.
create table identity.audit_log (
  account_id text collate "C" not null,
  seq bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  key_id text collate "C" not null,
  identity_id text collate "C" not null,
  identity_type text not null,
  action text not null,
  target_type text not null,
  -- Null when what was asked for could not be anything of ours.
  target_id text collate "C",
  target_version integer,
  outcome text not null,
  request_id text not null,

  constraint audit_log_pkey primary key (account_id, seq),
  constraint audit_log_outcome_check check (
    outcome in ('done', 'granted', 'missing_scope', 'not_found', 'integrity_failure', 'unavailable')
  )
);

create index audit_log_by_seq on identity.audit_log (seq);

-- One chain for the whole installation, which owns it as the account `system`.
create table identity.audit_seals (
  account_id text collate "C" not null default 'system' check (account_id = 'system'),
  number bigint not null,
  -- The rows it covers. Rows commit out of order, so a seal may cover numbers below those of an earlier one.
  seqs int8multirange not null,
  row_count integer not null,
  mac bytea not null check (octet_length(mac) = 32),
  created_at timestamptz not null default now(),

  constraint audit_seals_pkey primary key (account_id, number)
);

alter table identity.audit_log enable row level security;
create policy own_account on identity.audit_log
  using (account_id = nullif(current_setting('keelson.account_id', true), ''))
  with check (account_id = nullif(current_setting('keelson.account_id', true), ''));

revoke update, delete on identity.audit_log, identity.audit_seals from keelson_service;

create function identity.refuse_change() returns trigger
language plpgsql set search_path = ''
as $$
begin
  raise exception 'rows of % are never changed', tg_table_name using errcode = 'insufficient_privilege';
end
$$;

create trigger refuse_change before update or delete on identity.audit_log
  for each row execute function identity.refuse_change();
create trigger refuse_truncate before truncate on identity.audit_log
  for each statement execute function identity.refuse_change();
create trigger refuse_change before update or delete on identity.audit_seals
  for each row execute function identity.refuse_change();
create trigger refuse_truncate before truncate on identity.audit_seals
  for each statement execute function identity.refuse_change();

-- Rows no seal covers yet. No transaction of ours is open for ten minutes, so below the seals older than that nothing
-- can still appear, and only the numbers of younger seals need to be left out one by one.
create function identity.unsealed_audit_rows(most integer) returns setof identity.audit_log
language sql stable security definer set search_path = ''
begin atomic
  with young as (
    select range_agg(s.seqs) as seqs from identity.audit_seals s where s.created_at > now() - interval '10 minutes'
  ), old as (
    select max(upper(s.seqs)) as seq from identity.audit_seals s where s.created_at <= now() - interval '10 minutes'
  )
  select l.* from identity.audit_log l, young, old
  where l.seq >= coalesce(old.seq, 0) and (young.seqs is null or not l.seq <@ young.seqs)
  order by l.seq limit most;
end;

revoke all on function identity.unsealed_audit_rows(integer) from public;
