-- A model is nearly always made, or changed, together with the deployment that its own row names: that is one look at one
-- row. Whoever changes the model once more before the end of the transaction is checked for that change by itself.
create or replace function platform.assert_deploying_is_under_way() returns trigger language plpgsql as $$
declare
  changed_model text;
  deploying_generation integer;
  ended_at timestamptz;
begin
  if tg_argv[0] = 'id' then
    changed_model := new.id;
    select d.finished_at into ended_at from platform.deployments d
    where d.account_id = new.account_id and d.model_id = new.id and d.generation = new.generation
      and d.kind in ('create', 'update');
    if found and ended_at is null then
      return null;
    end if;
  else
    changed_model := new.model_id;
  end if;
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
