-- Refuses a new checkpoint unless `expected` is the latest of its namespace (empty: there is none) and the new one would
-- take its place, one writer at a time: one that sorts before the head leaves it to a second writer that expects it too.
create or replace function agent.admit_at_head(account text, thread text, ns text, id text, expected text) returns boolean language plpgsql as $$
declare
  head text collate "C";
begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  perform from agent.checkpoints as c
    where c.account_id = account and c.thread_id = thread and c.checkpoint_ns = ns and c.checkpoint_id = id;
  if found then return true; end if;
  select c.checkpoint_id into head from agent.checkpoints as c
    where c.account_id = account and c.thread_id = thread and c.checkpoint_ns = ns
    order by c.checkpoint_id desc limit 1;
  if coalesce(head, '') <> expected or id <= head then return agent.refuse('head_moved'); end if;
  return true;
end $$;
