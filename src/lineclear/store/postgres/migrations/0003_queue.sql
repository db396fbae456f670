-- The queue: candidates, landings under way, checks, and the phase.
CREATE TABLE "candidate" (
  "repo" text COLLATE "C" NOT NULL,
  "id" bigint NOT NULL,
  "branch" text COLLATE "C" NOT NULL,
  "tip" text COLLATE "C" NOT NULL,
  "base" text COLLATE "C" NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  "task" bigint NOT NULL,
  "attempt" bigint NOT NULL,
  "priority" bigint NOT NULL,
  "rank" bigint NOT NULL,
  "after" text COLLATE "C" NOT NULL,
  "state" text COLLATE "C" NOT NULL,
  "reason" text COLLATE "C" NOT NULL,
  "kind" text COLLATE "C" NOT NULL,
  "others" text COLLATE "C" NOT NULL,
  "review" text COLLATE "C" NOT NULL,
  "reviewer" text COLLATE "C" NOT NULL,
  "commit" text COLLATE "C" NOT NULL,
  "submitted" bigint NOT NULL,
  "submitted_ns" bigint NOT NULL,
  "ended_ns" bigint NOT NULL,
  PRIMARY KEY ("repo", "id")
);
CREATE INDEX "candidate_state" ON "candidate" ("repo", "state", "id");
CREATE INDEX "candidate_branch" ON "candidate" ("repo", "branch", "id");
CREATE INDEX "candidate_task" ON "candidate" ("repo", "task", "id");

CREATE TABLE "landing" (
  "repo" text COLLATE "C" NOT NULL,
  "id" bigint NOT NULL,
  "old" text COLLATE "C" NOT NULL,
  "new" text COLLATE "C" NOT NULL,
  "ids" text COLLATE "C" NOT NULL,
  "commits" text COLLATE "C" NOT NULL,
  "hows" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("repo", "id")
);

CREATE TABLE "verdict" (
  "repo" text COLLATE "C" NOT NULL,
  "key" text COLLATE "C" NOT NULL,
  "tree" text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  PRIMARY KEY ("repo", "key")
);

CREATE TABLE "check_record" (
  "repo" text COLLATE "C" NOT NULL,
  "command" text COLLATE "C" NOT NULL,
  "runs" bigint NOT NULL,
  "reds" bigint NOT NULL,
  "flakes" bigint NOT NULL,
  "took_ms" bigint NOT NULL,
  "last_ms" bigint NOT NULL,
  PRIMARY KEY ("repo", "command")
);

CREATE TABLE "mode" (
  "repo" text COLLATE "C" NOT NULL,
  "name" text COLLATE "C" NOT NULL,
  "value" text COLLATE "C" NOT NULL,
  "note" text COLLATE "C" NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  "since" bigint NOT NULL,
  PRIMARY KEY ("repo", "name")
);
