-- Removes checkpoints of a thread with their writes, and blobs that by an earlier look only they name, under a lock that is
-- held for little more than the deletions: instead of all checkpoints it looks at those that came or changed since
-- `planned_at`, the oldest transaction the earlier look may have missed. Removes nothing when one of them comes from a
-- checkpoint of `doomed`, or when somebody else removed something of the thread, whose `deleted_at` is then another.
create function agent.remove_checkpoints(
  account text, thread text, doomed_namespaces text[], doomed_ids text[], part_from integer, part_to integer,
  blob_namespaces text[], blob_channels text[], blob_versions text[], planned_at xid, marked_at timestamptz,
  out checkpoints integer, out blobs integer, out writes integer, out marked timestamptz
) language plpgsql as $$
declare
  namespaces text[] := doomed_namespaces[part_from:part_to];
  ids text[] := doomed_ids[part_from:part_to];
  fresh_namespaces text[];
  fresh_channels text[];
  fresh_versions text[];
begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  checkpoints := 0; blobs := 0; writes := 0;
  perform from agent.threads as t
    where t.account_id = account and t.thread_id = thread and t.deleted_at is not distinct from marked_at;
  if not found then return; end if;
  perform from agent.checkpoints as c
    where c.account_id = account and c.thread_id = thread and age(c.xmin) <= age(planned_at)
      and (c.checkpoint_ns, c.parent_checkpoint_id) in (select * from unnest(doomed_namespaces, doomed_ids))
      and (c.checkpoint_ns, c.checkpoint_id) not in (select * from unnest(doomed_namespaces, doomed_ids));
  if found then return; end if;

  select array_agg(c.checkpoint_ns), array_agg(named.channel), array_agg(named.version)
    into fresh_namespaces, fresh_channels, fresh_versions
    from agent.checkpoints as c, unnest(c.channels, c.versions) as named (channel, version)
    where c.account_id = account and c.thread_id = thread and age(c.xmin) <= age(planned_at)
      and (c.checkpoint_ns, c.checkpoint_id) not in (select * from unnest(namespaces, ids));
  delete from agent.checkpoint_blobs as b where b.account_id = account and b.ctid = any (array(
    select v.ctid
    from (
      select * from unnest(blob_namespaces, blob_channels, blob_versions)
      except select * from unnest(fresh_namespaces, fresh_channels, fresh_versions)
    ) as named (ns, channel, version), lateral (
      select ctid from agent.checkpoint_blobs as v where v.account_id = account and v.thread_id = thread
        and v.checkpoint_ns = named.ns and v.channel = named.channel and v.version = named.version offset 0) as v));
  get diagnostics blobs = row_count;
  delete from agent.checkpoint_writes as w where w.account_id = account and w.ctid = any (array(
    select v.ctid from unnest(namespaces, ids) as named (ns, id), lateral (
      select ctid from agent.checkpoint_writes as v where v.account_id = account and v.thread_id = thread
        and v.checkpoint_ns = named.ns and v.checkpoint_id = named.id offset 0) as v));
  get diagnostics writes = row_count;
  delete from agent.checkpoints as c where c.account_id = account and c.ctid = any (array(
    select v.ctid from unnest(namespaces, ids) as named (ns, id), lateral (
      select ctid from agent.checkpoints as v where v.account_id = account and v.thread_id = thread
        and v.checkpoint_ns = named.ns and v.checkpoint_id = named.id offset 0) as v));
  get diagnostics checkpoints = row_count;
  if checkpoints > 0 then
    update agent.threads as t
      set deleted_through = greatest(t.deleted_through, (select max(id collate "C") from unnest(ids) as id)), deleted_at = clock_timestamp()
      where t.account_id = account and t.thread_id = thread
      returning t.deleted_at into marked;
  end if;
end $$;
