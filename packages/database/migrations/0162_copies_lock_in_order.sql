-- Refuses to copy what is not there, or over what is; both threads stay as they are until the transaction ends. They are
-- locked in the order of `admit_all`, so that copies to and fro never wait in a circle.
create or replace function agent.admit_copy(account text, source text, target text) returns boolean language plpgsql as $$ begin
  if hashtext(source) < hashtext(target) then
    perform pg_advisory_xact_lock_shared(hashtext(account), hashtext(source));
  end if;
  perform pg_advisory_xact_lock(hashtext(account), hashtext(target));
  perform pg_advisory_xact_lock_shared(hashtext(account), hashtext(source));
  if not exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = source) then
    return agent.refuse('not_found');
  elsif exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = target) then
    return agent.refuse('thread_exists');
  end if;
  return true;
end $$;
