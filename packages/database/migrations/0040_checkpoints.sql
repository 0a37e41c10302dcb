-- What a thread is: when it changed, how long it is kept, and what of it was deleted.
create table agent.threads (
  account_id text collate "C" not null,
  thread_id text collate "C" not null,
  -- Null: as the account says; 0: for ever.
  ttl_seconds integer,
  -- Checkpoints up to this id are gone unless they are there: what builds on a missing one came too late.
  deleted_through text collate "C",
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, thread_id)
) with (fillfactor = 80);

create index threads_by_change on agent.threads (account_id, updated_at, thread_id);
create index threads_with_ttl on agent.threads (updated_at) where ttl_seconds > 0;
create index threads_deleted on agent.threads (deleted_at) where deleted_at is not null;

create table agent.checkpoint_ttls (
  account_id text collate "C" primary key,
  ttl_seconds integer not null
);

-- `checkpoint` and `metadata` are the caller's own text. `channels` and `versions` repeat its channel_versions, so that
-- reads never parse it; `metadata_filter` is a copy to search, without what jsonb cannot hold.
create table agent.checkpoints (
  account_id text collate "C" not null,
  thread_id text collate "C" not null,
  checkpoint_ns text collate "C" not null,
  checkpoint_id text collate "C" not null,
  parent_checkpoint_id text collate "C",
  checkpoint text not null,
  metadata text not null,
  metadata_filter jsonb not null,
  channels text[] collate "C" not null,
  versions text[] collate "C" not null,
  run_id text collate "C",
  created_at timestamptz not null default now(),
  primary key (account_id, thread_id, checkpoint_ns, checkpoint_id)
);

create index checkpoints_by_id on agent.checkpoints (account_id, checkpoint_id, thread_id, checkpoint_ns);
create index checkpoints_by_run on agent.checkpoints (account_id, run_id) where run_id is not null;

create table agent.checkpoint_blobs (
  account_id text collate "C" not null,
  thread_id text collate "C" not null,
  checkpoint_ns text collate "C" not null,
  channel text collate "C" not null,
  version text collate "C" not null,
  type text not null,
  blob bytea,
  primary key (account_id, thread_id, checkpoint_ns, channel, version)
);

-- No foreign key: writes may arrive before their checkpoint.
create table agent.checkpoint_writes (
  account_id text collate "C" not null,
  thread_id text collate "C" not null,
  checkpoint_ns text collate "C" not null,
  checkpoint_id text collate "C" not null,
  task_id text collate "C" not null,
  idx integer not null,
  channel text collate "C" not null,
  type text,
  blob bytea not null,
  task_path text collate "C" not null,
  primary key (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);

-- pglz burns more CPU on large values than all the rest of a write; a server may be built without lz4.
do $$ begin
  alter table agent.checkpoints
    alter column checkpoint set compression lz4, alter column metadata set compression lz4, alter column metadata_filter set compression lz4;
  alter table agent.checkpoint_blobs alter column blob set compression lz4;
  alter table agent.checkpoint_writes alter column blob set compression lz4;
exception when feature_not_supported then null;
end $$;

-- Fails the statement it is called in with a code of the error catalogue.
create function agent.refuse(code text) returns boolean language plpgsql as $$ begin
  raise exception using errcode = 'KL001', message = code;
end $$;

-- Refuses what builds on a deleted checkpoint. Its queries see what was committed while it waited for the lock.
create function agent.admit(account text, thread text, ns text, built_on text) returns boolean language plpgsql as $$ begin
  perform pg_advisory_xact_lock_shared(hashtext(account), hashtext(thread));
  if exists (select from agent.threads as t where t.account_id = account and t.thread_id = thread and built_on <= t.deleted_through)
    and not exists (
      select from agent.checkpoints as c
      where c.account_id = account and c.thread_id = thread and c.checkpoint_ns = ns and c.checkpoint_id = built_on)
  then return agent.refuse('thread_deleted');
  end if;
  return true;
end $$;

-- Refuses a new checkpoint unless `expected` is the latest of its namespace (empty: there is none), one writer at a time.
create function agent.admit_at_head(account text, thread text, ns text, id text, expected text) returns boolean language plpgsql as $$
declare
  head text;
begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  perform from agent.checkpoints as c
    where c.account_id = account and c.thread_id = thread and c.checkpoint_ns = ns and c.checkpoint_id = id;
  if found then return true; end if;
  select c.checkpoint_id into head from agent.checkpoints as c
    where c.account_id = account and c.thread_id = thread and c.checkpoint_ns = ns
    order by c.checkpoint_id desc limit 1;
  if coalesce(head, '') <> expected then return agent.refuse('head_moved'); end if;
  return true;
end $$;

-- Refuses to copy what is not there, or over what is; both threads stay as they are until the transaction ends.
create function agent.admit_copy(account text, source text, target text) returns boolean language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(target));
  perform pg_advisory_xact_lock_shared(hashtext(account), hashtext(source));
  if not exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = source) then
    return agent.refuse('not_found');
  elsif exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = target) then
    return agent.refuse('thread_exists');
  end if;
  return true;
end $$;

-- Deletes a thread: for its readers at once, and of its blobs and writes so many as one short lock allows. True when some
-- are left. With `unchanged_since`, only a thread that nobody changed after that time.
create function agent.delete_thread(account text, thread text, part integer, unchanged_since timestamptz) returns boolean language plpgsql as $$
declare
  last text;
  removed bigint;
  is_left boolean := false;
begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  if unchanged_since is not null then
    perform from agent.threads as t where t.account_id = account and t.thread_id = thread and t.updated_at <= unchanged_since;
    if not found then return false; end if;
  end if;
  select max(id) into last from (
    select max(c.checkpoint_id) as id from agent.checkpoints as c where c.account_id = account and c.thread_id = thread
    union all select max(w.checkpoint_id) from agent.checkpoint_writes as w where w.account_id = account and w.thread_id = thread
    union all select t.deleted_through from agent.threads as t where t.account_id = account and t.thread_id = thread) as ids;
  if last is null then return false; end if;
  insert into agent.threads as t (account_id, thread_id, deleted_through, deleted_at) values (account, thread, last, now())
    on conflict (account_id, thread_id) do update
    set deleted_through = last, deleted_at = now(), ttl_seconds = null, created_at = now(), updated_at = now();
  delete from agent.checkpoints as c where c.account_id = account and c.thread_id = thread;
  delete from agent.checkpoint_writes as w where w.ctid = any (array(
    select v.ctid from agent.checkpoint_writes as v where v.account_id = account and v.thread_id = thread limit part))
    and w.account_id = account;
  get diagnostics removed = row_count;
  is_left := removed = part;
  delete from agent.checkpoint_blobs as b where b.ctid = any (array(
    select v.ctid from agent.checkpoint_blobs as v where v.account_id = account and v.thread_id = thread limit part))
    and b.account_id = account;
  get diagnostics removed = row_count;
  return is_left or removed = part;
end $$;

-- Deletes what no checkpoint of a thread names: blobs by channel and version, writes of checkpoints that were deleted.
create function agent.delete_leftovers(account text, thread text, part integer) returns table (blobs integer, writes integer) language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  delete from agent.checkpoint_blobs as b where b.account_id = account and b.ctid = any (array(
    select v.ctid from agent.checkpoint_blobs as v where v.account_id = account and v.thread_id = thread
      and (v.checkpoint_ns, v.channel, v.version) not in (
        select c.checkpoint_ns, named.channel, named.version
        from agent.checkpoints as c, unnest(c.channels, c.versions) as named (channel, version)
        where c.account_id = account and c.thread_id = thread)
    limit part));
  get diagnostics blobs = row_count;
  delete from agent.checkpoint_writes as w where w.account_id = account and w.ctid = any (array(
    select v.ctid from agent.checkpoint_writes as v
    join agent.threads as t on t.account_id = v.account_id and t.thread_id = v.thread_id and v.checkpoint_id <= t.deleted_through
    where v.account_id = account and v.thread_id = thread
      and (v.checkpoint_ns, v.checkpoint_id) not in (
        select c.checkpoint_ns, c.checkpoint_id from agent.checkpoints as c where c.account_id = account and c.thread_id = thread)
    limit part));
  get diagnostics writes = row_count;
  return next;
end $$;
