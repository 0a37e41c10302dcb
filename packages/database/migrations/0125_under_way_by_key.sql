-- Whether the deployment has ended is looked at after it was found. Asked for in the query, as it was before, it made every
-- index of what has not ended seem as good as the key, and each create read all deployments under way.
create or replace function platform.assert_deploying_is_under_way() returns trigger language plpgsql as $$
declare
  changed_model text := to_jsonb(new) ->> tg_argv[0];
  deploying_generation integer;
  ended_at timestamptz;
begin
  select m.generation into deploying_generation from platform.models m
  where m.account_id = new.account_id and m.id = changed_model and m.status = 'deploying';
  if not found then
    return null;
  end if;
  select d.finished_at into ended_at from platform.deployments d
  where d.account_id = new.account_id and d.model_id = changed_model and d.generation = deploying_generation
    and d.kind in ('create', 'update');
  if found and ended_at is null then
    return null;
  end if;
  raise exception 'model % is deploying without a deployment', changed_model
    using errcode = 'check_violation', schema = 'platform', table = 'models', constraint = 'models_deploying_is_under_way';
end
$$;
