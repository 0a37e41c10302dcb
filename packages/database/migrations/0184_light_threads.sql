-- Deletes a thread as `delete_thread` does, unless its checkpoints weigh more than `max_checkpoint_bytes`, each counted with
-- 1 KiB more: then it does nothing and answers null, since their deletion alone would hold the thread for too long.
create function agent.delete_light_thread(account text, thread text, max_rows integer, max_bytes bigint, max_checkpoint_bytes bigint) returns boolean
language plpgsql as $$
declare
  weight bigint;
begin
  select sum(1024 + pg_column_size(c.checkpoint) + pg_column_size(c.metadata) + pg_column_size(c.metadata_filter)) into weight
    from agent.checkpoints as c where c.account_id = account and c.thread_id = thread;
  if weight > max_checkpoint_bytes then return null; end if;
  return agent.delete_thread(account, thread, max_rows, max_bytes, null);
end $$;
