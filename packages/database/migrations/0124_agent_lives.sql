-- Which of its lives an agent is in: a deletion ends one, a registration by the same name begins the next. Each has a
-- version of the signing secret, so that the secret of an ended one is told from the present one when it is put back.
alter table agent.agents add column life integer not null default 1;
