-- Tokens: what agents and people show to prove a name. Of a secret only its hash is here.
CREATE TABLE "token" (
  "id" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "hash" TEXT NOT NULL,
  "note" TEXT NOT NULL,
  "issuer" TEXT NOT NULL,
  "made" INTEGER NOT NULL,
  "made_ns" INTEGER NOT NULL,
  "expires_ns" INTEGER NOT NULL,
  "revoker" TEXT NOT NULL,
  "revoked_ns" INTEGER NOT NULL,
  PRIMARY KEY ("id")
) STRICT, WITHOUT ROWID;
CREATE INDEX "token_name" ON "token" ("name", "id");
