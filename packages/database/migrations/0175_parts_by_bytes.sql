-- What is removed goes in parts, each what a short lock allows: by rows, and by bytes, since a large value takes longer. A
-- part is chosen before the lock, and looked at again under it.

-- Deletes blobs that no checkpoint of a thread names, and writes of deleted checkpoints: at most `max_rows`, and `max_bytes`
-- unless the first is larger. True when some are left. What checkpoints name is hashed only if work_mem has room for it;
-- without, each blob would be compared with all of it.
create function agent.delete_leftovers(account text, thread text, max_rows integer, max_bytes bigint) returns boolean
language plpgsql set work_mem = '64MB' as $$
declare
  writes tid[];
  blobs tid[];
  is_left boolean;
begin
  select array_agg(place) filter (where fits and is_write), array_agg(place) filter (where fits and not is_write), bool_or(not fits)
    into writes, blobs, is_left
    from (
      select place, is_write, position = 1 or (position <= max_rows and total <= max_bytes) as fits
      from (
        select *, row_number() over () as position, sum(bytes) over (rows unbounded preceding) as total
        from (
          select w.ctid as place, true as is_write, octet_length(w.blob) as bytes
          from agent.checkpoint_writes as w
          join agent.threads as t on t.account_id = w.account_id and t.thread_id = w.thread_id and w.checkpoint_id <= t.deleted_through
          where w.account_id = account and w.thread_id = thread
            and (w.checkpoint_ns, w.checkpoint_id) not in (
              select c.checkpoint_ns, c.checkpoint_id from agent.checkpoints as c where c.account_id = account and c.thread_id = thread)
          union all
          select b.ctid, false, coalesce(octet_length(b.blob), 0)
          from agent.checkpoint_blobs as b
          where b.account_id = account and b.thread_id = thread
            and (b.checkpoint_ns, b.channel, b.version) not in (
              select c.checkpoint_ns, named.channel, named.version
              from agent.checkpoints as c, unnest(c.channels, c.versions) as named (channel, version)
              where c.account_id = account and c.thread_id = thread)
          limit max_rows + 1
        ) as leftover
      ) as counted
    ) as chosen;
  if is_left is null then return false; end if;

  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  delete from agent.checkpoint_writes as w where w.account_id = account and w.ctid = any (array(
    select v.ctid from unnest(writes) as place, lateral (
      select v.ctid, v.* from agent.checkpoint_writes as v where v.ctid = place offset 0) as v
    join agent.threads as t on t.account_id = account and t.thread_id = thread and v.checkpoint_id <= t.deleted_through
    where v.account_id = account and v.thread_id = thread
      and (v.checkpoint_ns, v.checkpoint_id) not in (
        select c.checkpoint_ns, c.checkpoint_id from agent.checkpoints as c where c.account_id = account and c.thread_id = thread)));
  delete from agent.checkpoint_blobs as b where b.account_id = account and b.ctid = any (array(
    select v.ctid from unnest(blobs) as place, lateral (
      select v.ctid, v.* from agent.checkpoint_blobs as v where v.ctid = place offset 0) as v
    where v.account_id = account and v.thread_id = thread
      and (v.checkpoint_ns, v.channel, v.version) not in (
        select c.checkpoint_ns, named.channel, named.version
        from agent.checkpoints as c, unnest(c.channels, c.versions) as named (channel, version)
        where c.account_id = account and c.thread_id = thread)));
  return is_left;
end $$;

-- Deletes a thread: for its readers at once, and of its blobs and writes as many as one short lock allows. True when some
-- may be left. With `unchanged_since`, only a thread that nobody changed after that time.
create function agent.delete_thread(account text, thread text, max_rows integer, max_bytes bigint, unchanged_since timestamptz) returns boolean
language plpgsql as $$
declare
  last text;
  removed record;
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
  with gone as (
    delete from agent.checkpoints as c where c.account_id = account and c.thread_id = thread
    returning octet_length(c.checkpoint) + octet_length(c.metadata) as bytes
  ) select count(*)::integer as rows, coalesce(sum(bytes), 0) as bytes into removed from gone;
  if removed.rows >= max_rows or removed.bytes >= max_bytes then return true; end if;
  return agent.delete_leftovers(account, thread, max_rows - removed.rows, max_bytes - removed.bytes);
end $$;

-- Forgets a deletion of `seconds` ago with what was left of it and, of a thread that is gone, with what came for it since;
-- as much as one short lock allows. True when it must be called again. A thread that was written to lately may be about to
-- begin anew, and stays.
create function agent.drop_tombstone(account text, thread text, max_rows integer, max_bytes bigint, seconds integer) returns boolean
language plpgsql as $$
declare
  before timestamptz := now() - make_interval(secs => seconds);
begin
  if exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = thread) then
    if agent.delete_leftovers(account, thread, max_rows, max_bytes) then return true; end if;
    perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
    update agent.threads as t set deleted_through = null, deleted_at = null
      where t.account_id = account and t.thread_id = thread and t.deleted_at < before;
    return false;
  end if;

  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  if exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = thread) then return true; end if;
  perform from agent.threads as t
    where t.account_id = account and t.thread_id = thread and t.deleted_at < before and t.updated_at < before;
  if not found then return false; end if;
  update agent.threads as t set deleted_through = came.last
    from (select max(w.checkpoint_id) as last from agent.checkpoint_writes as w where w.account_id = account and w.thread_id = thread) as came
    where t.account_id = account and t.thread_id = thread and t.deleted_through < came.last;
  if agent.delete_leftovers(account, thread, max_rows, max_bytes) then return true; end if;
  delete from agent.threads as t where t.account_id = account and t.thread_id = thread;
  return false;
end $$;
