-- Checkpoints that no rule keeps, and that others need to rebuild delta channels: the names of those channels. What they hold
-- of other channels may be gone, so they are not listed, and nothing may build on them.
alter table agent.checkpoints add column kept_for text[];

-- Keeps checkpoints of a thread only for what others rebuild from them, `channels` being a JSON list for each. Does nothing
-- when a checkpoint that came or changed since the plan was made builds on one of `leaving`, which are these and all that are
-- to be removed, or when somebody else removed something of the thread, whose `deleted_at` is then another.
create function agent.keep_for_deltas(
  account text, thread text, namespaces text[], ids text[], channels text[], leaving_namespaces text[], leaving_ids text[],
  planned_at pg_snapshot, marked_at timestamptz, out marked timestamptz
) language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  perform from agent.threads as t
    where t.account_id = account and t.thread_id = thread and t.deleted_at is not distinct from marked_at;
  if not found then return; end if;
  perform from agent.checkpoints_since(account, thread, planned_at) as c
    where ((c.checkpoint_ns, c.parent_checkpoint_id) in (select * from unnest(leaving_namespaces, leaving_ids))) is true
      and (c.checkpoint_ns, c.checkpoint_id) not in (select * from unnest(leaving_namespaces, leaving_ids));
  if found then return; end if;

  update agent.checkpoints as c set kept_for = array(select jsonb_array_elements_text(named.channels::jsonb))
    from unnest(namespaces, ids, keep_for_deltas.channels) as named (ns, id, channels)
    where c.account_id = account and c.ctid = (
      select v.ctid from agent.checkpoints as v
      where v.account_id = account and v.thread_id = thread and v.checkpoint_ns = named.ns and v.checkpoint_id = named.id);
  update agent.threads as t
    set deleted_through = greatest(t.deleted_through, (select max(id collate "C") from unnest(ids) as id)), deleted_at = clock_timestamp()
    where t.account_id = account and t.thread_id = thread
    returning t.deleted_at into marked;
end $$;
