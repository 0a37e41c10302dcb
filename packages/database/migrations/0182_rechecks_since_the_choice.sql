-- What is chosen before a lock is compared under it with what came since, instead of with all checkpoints of the thread.

-- Removes blobs that stand in the way of a put though no checkpoint names them: those of a deleted thread that the deletion
-- has not come to. False when nothing of the thread was ever deleted, so that they are what they seem. Otherwise the put is
-- to be tried again, whether or not any were found: somebody else may have removed them. (`is true` has the set hashed.)
create or replace function agent.remove_unnamed_blobs(account text, thread text, ns text, blob_channels text[], blob_versions text[])
returns boolean language plpgsql as $$
declare
  planned_at pg_snapshot;
  unnamed_channels text[];
  unnamed_versions text[];
begin
  perform from agent.threads as t where t.account_id = account and t.thread_id = thread and t.deleted_through is not null;
  if not found then return false; end if;
  with given as materialized (
    select b.channel, b.version from unnest(blob_channels, blob_versions) as named (channel, version), lateral (
      select b.channel, b.version from agent.checkpoint_blobs as b where b.account_id = account and b.thread_id = thread
        and b.checkpoint_ns = ns and b.channel = named.channel and b.version = named.version offset 0) as b
  )
  select pg_current_snapshot(), array_agg(channel), array_agg(version) into planned_at, unnamed_channels, unnamed_versions
    from (
      select * from given
      except
      select named.channel, named.version
      from agent.checkpoints as c, unnest(c.channels, c.versions) as named (channel, version)
      where c.account_id = account and c.thread_id = thread and c.checkpoint_ns = ns
        and ((named.channel, named.version) in (select * from given)) is true
    ) as unnamed;
  if unnamed_channels is null then return true; end if;

  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  delete from agent.checkpoint_blobs as b where b.account_id = account and b.ctid = any (array(
    select v.ctid
    from (
      select * from unnest(unnamed_channels, unnamed_versions)
      except
      select fresh.channel, fresh.version
      from agent.checkpoints_since(account, thread, planned_at) as c, unnest(c.channels, c.versions) as fresh (channel, version)
      where c.checkpoint_ns = ns
    ) as unnamed (channel, version), lateral (
      select ctid from agent.checkpoint_blobs as v where v.account_id = account and v.thread_id = thread
        and v.checkpoint_ns = ns and v.channel = unnamed.channel and v.version = unnamed.version offset 0) as v));
  return true;
end $$;

-- Deletes blobs that no checkpoint of a thread names, and writes of deleted checkpoints: at most `max_rows`, and `max_bytes`
-- unless the first is larger. True when some are left. What checkpoints name is hashed only if work_mem has room for it;
-- without, each blob would be compared with all of it.
create or replace function agent.delete_leftovers(account text, thread text, max_rows integer, max_bytes bigint)
returns boolean language plpgsql set work_mem = '64MB' as $$
declare
  planned_at pg_snapshot;
  writes tid[];
  namespaces text[];
  channels text[];
  versions text[];
  is_left boolean;
begin
  select pg_current_snapshot(), array_agg(place) filter (where fits and channel is null),
      array_agg(ns) filter (where fits and channel is not null), array_agg(channel) filter (where fits and channel is not null),
      array_agg(version) filter (where fits and channel is not null), bool_or(not fits)
    into planned_at, writes, namespaces, channels, versions, is_left
    from (
      select *, position = 1 or (position <= max_rows and total <= max_bytes) as fits
      from (
        select *, row_number() over () as position, sum(bytes) over (rows unbounded preceding) as total
        from (
          select w.ctid as place, w.checkpoint_ns as ns, null as channel, null as version, octet_length(w.blob) as bytes
          from agent.checkpoint_writes as w
          join agent.threads as t on t.account_id = w.account_id and t.thread_id = w.thread_id and w.checkpoint_id <= t.deleted_through
          where w.account_id = account and w.thread_id = thread
            and (w.checkpoint_ns, w.checkpoint_id) not in (
              select c.checkpoint_ns, c.checkpoint_id from agent.checkpoints as c where c.account_id = account and c.thread_id = thread)
          union all
          select null, b.checkpoint_ns, b.channel, b.version, coalesce(octet_length(b.blob), 0)
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
      and not exists (
        select from agent.checkpoints as c where c.account_id = account and c.thread_id = thread
          and c.checkpoint_ns = v.checkpoint_ns and c.checkpoint_id = v.checkpoint_id offset 0)));
  if channels is null then return is_left; end if;
  delete from agent.checkpoint_blobs as b where b.account_id = account and b.ctid = any (array(
    select v.ctid
    from (
      select * from unnest(namespaces, channels, versions)
      except
      select c.checkpoint_ns, fresh.channel, fresh.version
      from agent.checkpoints_since(account, thread, planned_at) as c, unnest(c.channels, c.versions) as fresh (channel, version)
    ) as unnamed (ns, channel, version), lateral (
      select ctid from agent.checkpoint_blobs as v where v.account_id = account and v.thread_id = thread
        and v.checkpoint_ns = unnamed.ns and v.channel = unnamed.channel and v.version = unnamed.version offset 0) as v));
  return is_left;
end $$;
