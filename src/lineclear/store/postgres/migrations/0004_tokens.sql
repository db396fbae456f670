-- Tokens: what agents and people show to prove a name. Of a secret only its hash is here.
CREATE TABLE "token" (
  "repo" text COLLATE "C" NOT NULL,
  "id" text COLLATE "C" NOT NULL,
  "name" text COLLATE "C" NOT NULL,
  "kind" text COLLATE "C" NOT NULL,
  "hash" text COLLATE "C" NOT NULL,
  "note" text COLLATE "C" NOT NULL,
  "issuer" text COLLATE "C" NOT NULL,
  "made" bigint NOT NULL,
  "made_ns" bigint NOT NULL,
  "expires_ns" bigint NOT NULL,
  "revoker" text COLLATE "C" NOT NULL,
  "revoked_ns" bigint NOT NULL,
  PRIMARY KEY ("repo", "id")
);
CREATE INDEX "token_name" ON "token" ("repo", "name", "id");
