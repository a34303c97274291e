-- memfs's shared index, version 1. `memfs publish --migrate` runs this whole file in one transaction, as the owner of
-- the database. Running it again changes nothing but what an added extension makes possible.
--
-- Three kinds of roles: the owner runs this file; members of memfs_publisher write the repositories that they
-- published first; members of memfs_reader read. Who reads which scope is written in memfs.audience.

CREATE SCHEMA IF NOT EXISTS memfs;
REVOKE ALL ON SCHEMA memfs FROM PUBLIC;

DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memfs_reader') THEN
    CREATE ROLE memfs_reader NOLOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memfs_publisher') THEN
    CREATE ROLE memfs_publisher NOLOGIN;
  END IF;
END $$;

-- The role that asks, also inside a function that runs as its owner.
CREATE OR REPLACE FUNCTION memfs.asking() RETURNS name LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END
$$;

CREATE TABLE IF NOT EXISTS memfs.version (
  version  integer PRIMARY KEY,
  applied  timestamptz NOT NULL DEFAULT now()
);

-- Who may read which scopes: of one repository, or of each (repository NULL). 'team/*' means every team/NAME.
CREATE TABLE IF NOT EXISTS memfs.audience (
  role        name NOT NULL,
  repository  text,
  scope       text NOT NULL CHECK (scope ~ '^(team(/(\*|[a-z0-9][a-z0-9-]*))?|restricted/(\*|[a-z0-9][a-z0-9-]*))$'),
  UNIQUE NULLS NOT DISTINCT (role, repository, scope)
);

-- Which person a role is, for scopes whose readers a repository names.
CREATE TABLE IF NOT EXISTS memfs.person (
  role       name PRIMARY KEY,
  principal  text NOT NULL
);

CREATE TABLE IF NOT EXISTS memfs.repository (
  id         text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{32}$'),
  name       text NOT NULL,
  commit     text NOT NULL,
  committed  timestamptz NOT NULL,
  published  timestamptz NOT NULL DEFAULT now(),
  publisher  name NOT NULL DEFAULT memfs.asking(),
  tokenizer  integer NOT NULL
);

-- One scope of one repository, with the people it is limited to, and what a search must know of it as a whole.
CREATE TABLE IF NOT EXISTS memfs.shelf (
  id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  repository  text NOT NULL REFERENCES memfs.repository ON DELETE CASCADE,
  scope       text NOT NULL CHECK (scope ~ '^(team|restricted)(/|$)'),
  readers     text[],
  documents   integer NOT NULL DEFAULT 0,
  length      bigint NOT NULL DEFAULT 0,
  UNIQUE (repository, scope)
);

CREATE TABLE IF NOT EXISTS memfs.memory (
  key         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  shelf       integer NOT NULL REFERENCES memfs.shelf ON DELETE CASCADE,
  repository  text NOT NULL REFERENCES memfs.repository ON DELETE CASCADE,
  path        text NOT NULL,
  digest      text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
  bytes       bytea NOT NULL CHECK (length(bytes) <= 262144),
  length      integer NOT NULL,
  terms       tsvector NOT NULL,
  model       text,
  vector      bytea,
  tokens      bytea,
  state       jsonb NOT NULL,
  stamp       text NOT NULL,
  UNIQUE (repository, path)
);
CREATE INDEX IF NOT EXISTS memory_terms ON memfs.memory USING gin (terms);
CREATE INDEX IF NOT EXISTS memory_shelf ON memfs.memory (shelf);

-- In how many memories of a shelf a term occurs.
CREATE TABLE IF NOT EXISTS memfs.term (
  term       text NOT NULL,
  shelf      integer NOT NULL REFERENCES memfs.shelf ON DELETE CASCADE,
  documents  integer NOT NULL,
  PRIMARY KEY (term, shelf)
);
CREATE INDEX IF NOT EXISTS term_shelf ON memfs.term (shelf);

CREATE TABLE IF NOT EXISTS memfs.keyring (
  repository  text NOT NULL REFERENCES memfs.repository ON DELETE CASCADE,
  version     integer NOT NULL CHECK (version > 0),
  bytes       bytea NOT NULL,
  PRIMARY KEY (repository, version)
);

CREATE TABLE IF NOT EXISTS memfs.receipt (
  repository  text NOT NULL REFERENCES memfs.repository ON DELETE CASCADE,
  name        text NOT NULL,
  bytes       bytea NOT NULL,
  ids         text[] NOT NULL,
  PRIMARY KEY (repository, name)
);
CREATE INDEX IF NOT EXISTS receipt_ids ON memfs.receipt USING gin (ids);

-- What a publication has sent before its one transaction, so that a killed one goes on where it was.
CREATE TABLE IF NOT EXISTS memfs.staged (
  repository  text NOT NULL,
  publisher   name NOT NULL DEFAULT memfs.asking(),
  path        text NOT NULL,
  scope       text NOT NULL,
  digest      text NOT NULL,
  bytes       bytea NOT NULL,
  length      integer NOT NULL,
  terms       tsvector NOT NULL,
  model       text,
  vector      bytea,
  tokens      bytea,
  state       jsonb NOT NULL,
  stamp       text NOT NULL,
  PRIMARY KEY (repository, publisher, path)
);

-- Meaning, where the extension pgvector is here or may be made: 384 numbers a row, the size of every model that
-- memfs knows. An owner who may not make extensions asks an administrator for it and runs this file again.
DO $$
DECLARE
  place text;
BEGIN
  BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
      CREATE EXTENSION IF NOT EXISTS vector;
    END IF;
  EXCEPTION WHEN insufficient_privilege THEN NULL;
  END;
  SELECT n.nspname INTO place FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector' AND EXISTS (SELECT FROM pg_type WHERE typname = 'halfvec');
  IF place IS NOT NULL THEN
    EXECUTE format('ALTER TABLE memfs.memory ADD COLUMN IF NOT EXISTS meaning %I.halfvec(384)', place);
    EXECUTE format('ALTER TABLE memfs.staged ADD COLUMN IF NOT EXISTS meaning %I.halfvec(384)', place);
    EXECUTE format('CREATE INDEX IF NOT EXISTS memory_meaning ON memfs.memory USING hnsw '
                   '(meaning %I.halfvec_cosine_ops)', place);
  END IF;
END $$;

-- -- who sees what ----------------------------------------------------------------------------------------------------
-- These functions run as their owner, so that no policy needs another one, and always speak of the role that asks.

-- The shelves that the asking role may read. A scope whose readers are named is read by these people alone.
CREATE OR REPLACE FUNCTION memfs.visible_shelves() RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = memfs, pg_catalog, pg_temp AS $$
  SELECT s.id FROM memfs.shelf s
  WHERE EXISTS (
      SELECT FROM memfs.audience a JOIN pg_roles r ON r.rolname = a.role
      WHERE (a.repository IS NULL OR a.repository = s.repository)
        AND (a.scope = s.scope OR (right(a.scope, 2) = '/*' AND starts_with(s.scope, left(a.scope, -1))))
        AND pg_has_role(memfs.asking(), r.oid, 'USAGE'))
    AND (s.readers IS NULL
         OR EXISTS (SELECT FROM memfs.person p WHERE p.role = memfs.asking() AND p.principal = ANY (s.readers)))
$$;

CREATE OR REPLACE FUNCTION memfs.visible_repositories() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = memfs, pg_catalog, pg_temp AS $$
  SELECT DISTINCT s.repository FROM memfs.shelf s WHERE s.id IN (SELECT memfs.visible_shelves())
$$;

-- The visible shelves of `scopes` ('team/*' means every team/NAME) that are of none of `others`.
CREATE OR REPLACE FUNCTION memfs.asked_shelves(scopes text[], others text[]) RETURNS integer[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = memfs, pg_catalog, pg_temp AS $$
  SELECT coalesce(array_agg(s.id), '{}') FROM shelf s
  WHERE s.id IN (SELECT memfs.visible_shelves()) AND s.repository <> ALL (others)
    AND (s.scope = ANY (scopes) OR (starts_with(s.scope, 'team/') AND 'team/*' = ANY (scopes)))
$$;

-- The repositories that the asking role published first; and their shelves.
CREATE OR REPLACE FUNCTION memfs.own_repositories() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = memfs, pg_catalog, pg_temp AS $$
  SELECT r.id FROM memfs.repository r WHERE r.publisher = memfs.asking()
$$;

CREATE OR REPLACE FUNCTION memfs.own_shelves() RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = memfs, pg_catalog, pg_temp AS $$
  SELECT s.id FROM memfs.shelf s WHERE s.repository IN (SELECT memfs.own_repositories())
$$;

-- One word as a query, whatever characters it has.
CREATE OR REPLACE FUNCTION memfs.as_query(word text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery
$$;

-- How often each of `words` occurs in `terms`, in their order.
CREATE OR REPLACE FUNCTION memfs.counts_of(terms tsvector, words text[]) RETURNS integer[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT pg_catalog.array_agg(coalesce(pg_catalog.array_length(u.positions, 1), 0) ORDER BY w.place)
  FROM pg_catalog.unnest(words) WITH ORDINALITY AS w(word, place)
  LEFT JOIN pg_catalog.unnest(terms) AS u ON u.lexeme = w.word
$$;

-- What a search by words needs, in one answer: for the asking role, and of that only `scopes` outside `others`. The first row has the number of visible
-- memories, their length in terms and in how many of them each word occurs; then come up to `most` memories with the
-- weightiest words. `cap` bounds the memories that are looked at: common words are passed over where rarer ones exist.
-- No text leaves here. It is read from memfs.memory, under its policy, which would forbid the index of terms.
CREATE OR REPLACE FUNCTION memfs.search(words text[], scopes text[], others text[], most integer, cap integer)
RETURNS TABLE (memory bigint, length bigint, counts integer[], model text, vector bytea, tokens bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = memfs, pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  seen constant integer[] := memfs.asked_shelves(scopes, others);
  frequencies integer[];
  total bigint;
  size bigint;
  sought tsquery;
BEGIN
  SELECT coalesce(sum(s.documents), 0), coalesce(sum(s.length), 0) INTO total, size
    FROM shelf s WHERE s.id = ANY (seen);
  SELECT array_agg(coalesce(f.documents, 0) ORDER BY w.place) INTO frequencies
    FROM unnest(words) WITH ORDINALITY AS w(word, place)
    LEFT JOIN (SELECT t.term, sum(t.documents)::integer AS documents FROM term t
               WHERE t.term = ANY (words) AND t.shelf = ANY (seen) GROUP BY t.term) f ON f.term = w.word;
  RETURN QUERY SELECT total, size, frequencies, NULL::text, NULL::bytea, NULL::bytea;
  SELECT string_agg(memfs.as_query(r.word)::text, ' | ')::tsquery INTO sought
    FROM (SELECT u.word, sum(u.f) OVER rarest AS running, row_number() OVER rarest AS place
          FROM unnest(words, frequencies) AS u(word, f) WHERE u.f > 0
          WINDOW rarest AS (ORDER BY u.f, u.word ROWS UNBOUNDED PRECEDING)) r
    WHERE r.place = 1 OR (r.place <= 12 AND r.running <= cap);
  IF sought IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
    WITH word AS MATERIALIZED (
      SELECT memfs.as_query(u.word) AS query, ln(1 + greatest(total - u.f + 0.5, 0) / (u.f + 0.5)) AS weight
      FROM unnest(words, frequencies) AS u(word, f) WHERE u.f > 0
    ), found AS MATERIALIZED (
      SELECT m.key, m.terms FROM memory m WHERE m.terms @@ sought AND m.shelf = ANY (seen) LIMIT greatest(cap, 1) * 4
    ), best AS (
      SELECT f.key FROM found f
      ORDER BY (SELECT sum(w.weight) FROM word w WHERE f.terms @@ w.query) DESC, f.key LIMIT least(most, 1000)
    )
    SELECT m.key, m.length::bigint, memfs.counts_of(m.terms, words), m.model, m.vector, m.tokens
    FROM best b JOIN memory m ON m.key = b.key;
END
$$;

-- The same for meaning: up to `most` visible memories whose vectors of `wanted` are nearest to `numbers`.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_type WHERE typname = 'halfvec') THEN
    EXECUTE format($f$
      CREATE OR REPLACE FUNCTION memfs.nearest(numbers text, wanted text, words text[], scopes text[], others text[], most integer)
      RETURNS TABLE (memory bigint, length bigint, counts integer[], model text, vector bytea, tokens bytea)
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = memfs, pg_catalog, %1$I, pg_temp
      SET hnsw.iterative_scan = relaxed_order AS $b$
        SELECT n.key, n.length::bigint, memfs.counts_of(n.terms, words), n.model, n.vector, n.tokens
        FROM (SELECT m.* FROM memory m
              WHERE m.model = wanted AND m.shelf = ANY (memfs.asked_shelves(scopes, others))
              ORDER BY m.meaning <=> numbers::halfvec LIMIT least(most, 1000)) n
      $b$ $f$, (SELECT n.nspname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
                WHERE t.typname = 'halfvec' LIMIT 1));
  ELSE
    CREATE OR REPLACE FUNCTION memfs.nearest(numbers text, wanted text, words text[], scopes text[], others text[], most integer)
    RETURNS TABLE (memory bigint, length bigint, counts integer[], model text, vector bytea, tokens bytea)
    LANGUAGE sql IMMUTABLE AS $b$ SELECT 0::bigint, 0::bigint, NULL::integer[], ''::text, NULL::bytea, NULL::bytea
                                  WHERE false $b$;
  END IF;
END $$;

ALTER TABLE memfs.repository ENABLE ROW LEVEL SECURITY;
ALTER TABLE memfs.shelf ENABLE ROW LEVEL SECURITY;
ALTER TABLE memfs.memory ENABLE ROW LEVEL SECURITY;
ALTER TABLE memfs.term ENABLE ROW LEVEL SECURITY;
ALTER TABLE memfs.keyring ENABLE ROW LEVEL SECURITY;
ALTER TABLE memfs.receipt ENABLE ROW LEVEL SECURITY;
ALTER TABLE memfs.staged ENABLE ROW LEVEL SECURITY;
ALTER TABLE memfs.audience ENABLE ROW LEVEL SECURITY;
ALTER TABLE memfs.person ENABLE ROW LEVEL SECURITY;

DO $$
DECLARE
  command text;
BEGIN
  FOR command IN SELECT format('DROP POLICY %I ON memfs.%I', policyname, tablename)
                 FROM pg_policies WHERE schemaname = 'memfs' LOOP
    EXECUTE command;
  END LOOP;
END $$;

CREATE POLICY seen ON memfs.repository FOR SELECT USING (id IN (SELECT memfs.visible_repositories()));
CREATE POLICY seen ON memfs.keyring FOR SELECT USING (repository IN (SELECT memfs.visible_repositories()));
CREATE POLICY seen ON memfs.receipt FOR SELECT USING (repository IN (SELECT memfs.visible_repositories()));
CREATE POLICY seen ON memfs.shelf FOR SELECT USING (id IN (SELECT memfs.visible_shelves()));
CREATE POLICY seen ON memfs.memory FOR SELECT USING (shelf IN (SELECT memfs.visible_shelves()));
CREATE POLICY seen ON memfs.term FOR SELECT USING (shelf IN (SELECT memfs.visible_shelves()));

-- Publishing: a repository belongs to the role that published it first.
CREATE POLICY published ON memfs.repository TO memfs_publisher
  USING (publisher = memfs.asking()) WITH CHECK (publisher = memfs.asking());
CREATE POLICY published ON memfs.staged TO memfs_publisher
  USING (publisher = memfs.asking()) WITH CHECK (publisher = memfs.asking());
CREATE POLICY published ON memfs.shelf TO memfs_publisher
  USING (repository IN (SELECT memfs.own_repositories())) WITH CHECK (repository IN (SELECT memfs.own_repositories()));
CREATE POLICY published ON memfs.memory TO memfs_publisher
  USING (repository IN (SELECT memfs.own_repositories()))
  WITH CHECK (repository IN (SELECT memfs.own_repositories()) AND shelf IN (SELECT memfs.own_shelves()));
CREATE POLICY published ON memfs.keyring TO memfs_publisher
  USING (repository IN (SELECT memfs.own_repositories())) WITH CHECK (repository IN (SELECT memfs.own_repositories()));
CREATE POLICY published ON memfs.receipt TO memfs_publisher
  USING (repository IN (SELECT memfs.own_repositories())) WITH CHECK (repository IN (SELECT memfs.own_repositories()));
CREATE POLICY published ON memfs.term TO memfs_publisher
  USING (shelf IN (SELECT memfs.own_shelves())) WITH CHECK (shelf IN (SELECT memfs.own_shelves()));

GRANT USAGE ON SCHEMA memfs TO memfs_reader, memfs_publisher;
GRANT SELECT ON memfs.version TO memfs_reader, memfs_publisher;
GRANT SELECT ON memfs.repository, memfs.shelf, memfs.memory, memfs.term, memfs.keyring, memfs.receipt TO memfs_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON memfs.repository, memfs.shelf, memfs.memory, memfs.term, memfs.keyring,
  memfs.receipt, memfs.staged TO memfs_publisher;
REVOKE ALL ON FUNCTION memfs.search(text[], text[], text[], integer, integer),
  memfs.nearest(text, text, text[], text[], text[], integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memfs.search(text[], text[], text[], integer, integer),
  memfs.nearest(text, text, text[], text[], text[], integer) TO memfs_reader, memfs_publisher;

INSERT INTO memfs.audience (role, repository, scope)
  VALUES ('memfs_reader', NULL, 'team'), ('memfs_reader', NULL, 'team/*')
  ON CONFLICT DO NOTHING;
INSERT INTO memfs.version (version) VALUES (1) ON CONFLICT DO NOTHING;
