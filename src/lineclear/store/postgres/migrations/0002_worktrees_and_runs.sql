-- Worktrees, runs, and what a task must produce.
ALTER TABLE "task" ADD COLUMN "produces" text COLLATE "C" NOT NULL DEFAULT '';

CREATE TABLE "worktree" (
  "repo" text COLLATE "C" NOT NULL,
  "name" text COLLATE "C" NOT NULL,
  "path" text COLLATE "C" NOT NULL,
  "branch" text COLLATE "C" NOT NULL,
  "base" text COLLATE "C" NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  "task" bigint NOT NULL,
  "origin" text COLLATE "C" NOT NULL,
  "port_first" bigint NOT NULL,
  "port_count" bigint NOT NULL,
  "made" bigint NOT NULL,
  PRIMARY KEY ("repo", "name")
);
CREATE INDEX "worktree_agent" ON "worktree" ("repo", "agent");

CREATE TABLE "run" (
  "repo" text COLLATE "C" NOT NULL,
  "id" bigint NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  "task" bigint NOT NULL,
  "attempt" bigint NOT NULL,
  "client" text COLLATE "C" NOT NULL,
  "model" text COLLATE "C" NOT NULL,
  "tree" text COLLATE "C" NOT NULL,
  "branch" text COLLATE "C" NOT NULL,
  "base" text COLLATE "C" NOT NULL,
  "bond" text COLLATE "C" NOT NULL,
  "token_hash" text COLLATE "C" NOT NULL,
  "session" text COLLATE "C" NOT NULL,
  "state" text COLLATE "C" NOT NULL,
  "asked" text COLLATE "C" NOT NULL,
  "how" text COLLATE "C" NOT NULL,
  "reason" text COLLATE "C" NOT NULL,
  "exit_code" bigint NOT NULL,
  "tokens_in" bigint NOT NULL,
  "tokens_out" bigint NOT NULL,
  "cost_micros" bigint NOT NULL,
  "snapshot" text COLLATE "C" NOT NULL,
  "started_ns" bigint NOT NULL,
  "ended_ns" bigint NOT NULL,
  PRIMARY KEY ("repo", "id")
);
CREATE INDEX "run_state" ON "run" ("repo", "state", "id");
CREATE INDEX "run_task" ON "run" ("repo", "task", "id");
