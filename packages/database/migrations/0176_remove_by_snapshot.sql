-- Checkpoints of a thread that came or changed since a snapshot was taken: their transaction had not begun then, or not
-- ended. The oldest transaction that was open then says too little: whoever leaves one open anywhere would make everything
-- since then look new.
create function agent.checkpoints_since(account text, thread text, planned_at pg_snapshot) returns setof agent.checkpoints language sql stable as $$
  select c.* from agent.checkpoints as c
  where c.account_id = account and c.thread_id = thread and (
    age(c.xmin) <= age(pg_snapshot_xmax(planned_at)::xid)
    or c.xmin = any (array(select open::xid from pg_snapshot_xip(planned_at) as open)))
$$;

-- Removes writes of checkpoints that are gone, and blobs that by an earlier look only they named: at most `max_rows`, and
-- `max_bytes` unless the first is larger; chosen before the lock, and looked at again under it.
create function agent.remove_orphans(
  account text, thread text, namespaces text[], ids text[], blob_namespaces text[], blob_channels text[], blob_versions text[],
  planned_at pg_snapshot, max_rows integer, max_bytes bigint, out blobs integer, out writes integer, out is_left boolean
) language plpgsql as $$
declare
  chosen_blobs tid[];
  chosen_writes tid[];
begin
  select array_agg(place) filter (where fits and not is_write), array_agg(place) filter (where fits and is_write), coalesce(bool_or(not fits), false)
    into chosen_blobs, chosen_writes, is_left
    from (
      select place, is_write, position = 1 or (position <= max_rows and total <= max_bytes) as fits
      from (
        select *, row_number() over () as position, sum(bytes) over (rows unbounded preceding) as total
        from (
          select w.* from unnest(namespaces, ids) as named (ns, id), lateral (
            select w.ctid as place, true as is_write, octet_length(w.blob) as bytes from agent.checkpoint_writes as w
            where w.account_id = account and w.thread_id = thread and w.checkpoint_ns = named.ns and w.checkpoint_id = named.id offset 0) as w
          where not exists (
            select from agent.checkpoints as c
            where c.account_id = account and c.thread_id = thread and c.checkpoint_ns = named.ns and c.checkpoint_id = named.id offset 0)
          union all
          select b.* from (
            select * from unnest(blob_namespaces, blob_channels, blob_versions)
            except select c.checkpoint_ns, fresh.channel, fresh.version
            from agent.checkpoints_since(account, thread, planned_at) as c, unnest(c.channels, c.versions) as fresh (channel, version)
          ) as named (ns, channel, version), lateral (
            select b.ctid, false, coalesce(octet_length(b.blob), 0) from agent.checkpoint_blobs as b
            where b.account_id = account and b.thread_id = thread
              and b.checkpoint_ns = named.ns and b.channel = named.channel and b.version = named.version offset 0) as b
          limit max_rows + 1
        ) as orphan
      ) as counted
    ) as chosen;
  blobs := 0; writes := 0;
  if chosen_blobs is null and chosen_writes is null then return; end if;

  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  if chosen_blobs is not null then
    delete from agent.checkpoint_blobs as b where b.account_id = account and b.ctid = any (array(
      select v.ctid from unnest(chosen_blobs) as place, lateral (
        select v.ctid, v.* from agent.checkpoint_blobs as v where v.ctid = place offset 0) as v
      where v.account_id = account and v.thread_id = thread
        and (v.checkpoint_ns, v.channel, v.version) not in (
          select c.checkpoint_ns, fresh.channel, fresh.version
          from agent.checkpoints_since(account, thread, planned_at) as c, unnest(c.channels, c.versions) as fresh (channel, version))));
    get diagnostics blobs = row_count;
  end if;
  delete from agent.checkpoint_writes as w where w.account_id = account and w.ctid = any (array(
    select v.ctid from unnest(chosen_writes) as place, lateral (
      select v.ctid, v.* from agent.checkpoint_writes as v where v.ctid = place offset 0) as v
    where v.account_id = account and v.thread_id = thread
      and ((v.checkpoint_ns, v.checkpoint_id) in (select * from unnest(namespaces, ids))) is true
      and not exists (
        select from agent.checkpoints as c where c.account_id = account and c.thread_id = thread
          and c.checkpoint_ns = v.checkpoint_ns and c.checkpoint_id = v.checkpoint_id offset 0)));
  get diagnostics writes = row_count;
end $$;

-- Removes checkpoints of a thread, those of `doomed` from `part_from` to `part_to`, and of what only they had as much as a
-- short lock allows; the rest is left to `remove_orphans`. Instead of all checkpoints it looks at those that came or changed
-- since the plan was made. Removes nothing when one of them comes from a checkpoint of `doomed`, or when somebody else
-- removed something of the thread, whose `deleted_at` is then another. (`is true` has the sets hashed: a join by the
-- namespace alone looked at all of the thread for each of `doomed`.)
create function agent.remove_checkpoints(
  account text, thread text, doomed_namespaces text[], doomed_ids text[], part_from integer, part_to integer,
  blob_namespaces text[], blob_channels text[], blob_versions text[], planned_at pg_snapshot, marked_at timestamptz,
  max_rows integer, max_bytes bigint,
  out checkpoints integer, out blobs integer, out writes integer, out is_left boolean, out marked timestamptz
) language plpgsql as $$
declare
  namespaces text[] := doomed_namespaces[part_from:part_to];
  ids text[] := doomed_ids[part_from:part_to];
begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  checkpoints := 0; blobs := 0; writes := 0; is_left := false;
  perform from agent.threads as t
    where t.account_id = account and t.thread_id = thread and t.deleted_at is not distinct from marked_at;
  if not found then return; end if;
  perform from agent.checkpoints_since(account, thread, planned_at) as c
    where ((c.checkpoint_ns, c.parent_checkpoint_id) in (select * from unnest(doomed_namespaces, doomed_ids))) is true
      and (c.checkpoint_ns, c.checkpoint_id) not in (select * from unnest(doomed_namespaces, doomed_ids));
  if found then return; end if;

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
  select orphans.blobs, orphans.writes, orphans.is_left into blobs, writes, is_left from agent.remove_orphans(
    account, thread, namespaces, ids, blob_namespaces, blob_channels, blob_versions, planned_at, max_rows, max_bytes) as orphans;
end $$;
