-- What the radar found and what still holds, and which findings nobody wants to hear of.
CREATE TABLE "finding" (
  "repo" text COLLATE "C" NOT NULL,
  "id" bigint NOT NULL,
  "key" text COLLATE "C" NOT NULL,
  "kind" text COLLATE "C" NOT NULL,
  "agents" text COLLATE "C" NOT NULL,
  "files" text COLLATE "C" NOT NULL,
  "symbol" text COLLATE "C" NOT NULL,
  "old" text COLLATE "C" NOT NULL,
  "new" text COLLATE "C" NOT NULL,
  "detail" text COLLATE "C" NOT NULL,
  "confidence" text COLLATE "C" NOT NULL,
  "interrupts" bigint NOT NULL,
  "task" bigint NOT NULL,
  "since_ns" bigint NOT NULL,
  "told" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("repo", "id")
);

CREATE TABLE "mute" (
  "repo" text COLLATE "C" NOT NULL,
  "kind" text COLLATE "C" NOT NULL,
  "path" text COLLATE "C" NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  PRIMARY KEY ("repo", "kind", "path")
);
