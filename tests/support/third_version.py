"""A project file of version 3: no source ids and synonyms."""

import sqlite3
from contextlib import closing
from pathlib import Path

THIRD_VERSION = """
CREATE TABLE class (
    class_id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255)
) STRICT;
INSERT INTO class VALUES(1,'Bird');
INSERT INTO class VALUES(2,'Gull');
CREATE TABLE class_policy (
    class_id INTEGER PRIMARY KEY REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    bar REAL CHECK (bar BETWEEN 0 AND 1),
    is_deepest INTEGER NOT NULL CHECK (is_deepest IN (0, 1))
) STRICT;
CREATE TABLE edge (
    parent_id INTEGER NOT NULL REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    child_id INTEGER NOT NULL REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (parent_id, child_id)
) WITHOUT ROWID, STRICT;
INSERT INTO edge VALUES(1,2);
CREATE TABLE file_state (
    row_id INTEGER PRIMARY KEY CHECK (row_id = 1),
    mark BLOB NOT NULL CHECK (length(mark) = 24),
    is_journal_whole INTEGER NOT NULL CHECK (is_journal_whole IN (0, 1)),
    digest BLOB CHECK (length(digest) = 32)
) STRICT;
INSERT INTO file_state VALUES(1,X'F45EF7F17E0B12C4861A120A6A43A3480000000000000008',1,NULL);
CREATE TABLE image (
    image_id INTEGER PRIMARY KEY AUTOINCREMENT,
    path ANY NOT NULL UNIQUE
        CHECK (typeof(path) IN ('text', 'blob') AND length(CAST(path AS BLOB)) BETWEEN 1 AND 65536),
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    modified_ns INTEGER NOT NULL
) STRICT;
INSERT INTO image VALUES(1,'photos/a.jpg',10,20);
CREATE TABLE image_fact (
    image_id INTEGER PRIMARY KEY,
    content_hash BLOB CHECK (length(content_hash) BETWEEN 1 AND 64),
    failure TEXT CHECK (length(failure) <= 10000)
) STRICT;
CREATE TABLE journal_chunk (
    step_id INTEGER NOT NULL REFERENCES journal_step ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    row_changes ANY NOT NULL CHECK (typeof(row_changes) IN ('text', 'blob')),
    PRIMARY KEY (step_id, sequence)
) STRICT;
INSERT INTO journal_chunk VALUES(1,1,'[["class",null,[1,"Bird"]]]');
INSERT INTO journal_chunk VALUES(2,1,'[["class",null,[2,"Mew"]],["edge",null,[1,2]]]');
INSERT INTO journal_chunk VALUES(3,1,'[["class",[2,"Mew"],[2,"Gull"]]]');
INSERT INTO journal_chunk VALUES(4,1,'[["image",null,[1,"photos/a.jpg",10,20]]]');
INSERT INTO journal_chunk VALUES(5,1,'[["label",null,[1,2,"ada","2026-01-02T03:04:05+00:00",\
"review"]]]');
INSERT INTO journal_chunk VALUES(6,1,'[["class",null,[3,"Tern"]],["edge",null,[1,3]]]');
CREATE TABLE journal_step (
    step_id INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL CHECK (length(text) <= 10000),
    done_at TEXT NOT NULL CHECK (done_at GLOB '????-??-??T??:??:*' AND length(done_at) <= 64),
    who TEXT NOT NULL CHECK (length(who) <= 1000),
    is_undone INTEGER NOT NULL DEFAULT 0 CHECK (is_undone IN (0, 1))
) STRICT;
INSERT INTO journal_step VALUES(1,'Add class Bird','2026-01-02T03:04:05+00:00','ada',0);
INSERT INTO journal_step VALUES(2,'Add class Mew','2026-01-02T03:04:05+00:00','ada',0);
INSERT INTO journal_step VALUES(3,'Rename class Mew to Gull','2026-01-02T03:04:05+00:00','ada',0);
INSERT INTO journal_step VALUES(4,'Add 1 image','2026-01-02T03:04:05+00:00','ada',0);
INSERT INTO journal_step VALUES(5,'Label 1 image as Gull','2026-01-02T03:04:05+00:00','ada',0);
INSERT INTO journal_step VALUES(6,'Add class Tern','2026-01-02T03:04:05+00:00','ada',1);
CREATE TABLE label (
    image_id INTEGER PRIMARY KEY REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    class_id INTEGER REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    who TEXT NOT NULL CHECK (length(who) <= 1000),
    labelled_at TEXT NOT NULL CHECK (labelled_at GLOB '????-??-??T??:??:*' AND \
length(labelled_at) <= 64),
    source TEXT NOT NULL CHECK (length(source) <= 1000)
) STRICT;
INSERT INTO label VALUES(1,2,'ada','2026-01-02T03:04:05+00:00','review');
CREATE TABLE model_file (
    hash TEXT NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
    content BLOB NOT NULL
) STRICT;
CREATE TABLE model_version (
    version_id INTEGER PRIMARY KEY AUTOINCREMENT,
    backbone_name TEXT NOT NULL CHECK (length(backbone_name) <= 1000),
    backbone_hash TEXT NOT NULL CHECK (length(backbone_hash) <= 128),
    backbone_path TEXT NOT NULL CHECK (length(backbone_path) <= 65536),
    propagation_hash TEXT NOT NULL CHECK (length(propagation_hash) <= 128),
    created_at TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:*' AND length(created_at) \
<= 64),
    settings TEXT NOT NULL CHECK (length(settings) <= 1000000),
    name TEXT NOT NULL DEFAULT '' CHECK (length(name) <= 1000),
    parent_id INTEGER,
    card TEXT NOT NULL DEFAULT '' CHECK (length(card) <= 1000000),
    figures TEXT NOT NULL DEFAULT '{}' CHECK (length(figures) <= 1000000)
) STRICT;
INSERT INTO model_version VALUES(1,'tiny','00ff','','','2026-01-02T03:04:05+00:00','{}','',NULL,\
'','{}');
CREATE TABLE prediction (
    setting TEXT NOT NULL CHECK (length(setting) <= 100),
    version_id INTEGER NOT NULL,
    image_id INTEGER NOT NULL,
    class_id INTEGER NOT NULL,
    score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
    safe_class_id INTEGER,
    safe_score REAL NOT NULL CHECK (safe_score BETWEEN 0 AND 1),
    PRIMARY KEY (setting, version_id, image_id)
) WITHOUT ROWID, STRICT;
CREATE TABLE setting (
    name TEXT NOT NULL PRIMARY KEY CHECK (length(name) <= 1000),
    value TEXT NOT NULL CHECK (length(value) <= 1000000)
) STRICT;
INSERT INTO setting VALUES('model_version','1');
CREATE INDEX edge_by_child ON edge (child_id);
CREATE INDEX label_by_class ON label (class_id);
CREATE INDEX journal_step_by_state ON journal_step (is_undone, step_id);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('model_version',1);
INSERT INTO sqlite_sequence VALUES('class',3);
INSERT INTO sqlite_sequence VALUES('journal_step',6);
INSERT INTO sqlite_sequence VALUES('image',1);
PRAGMA application_id = 1349667942;
PRAGMA user_version = 3;
"""  # frozen: written by that version; never follows the code


def write_third_version(path: Path) -> None:
    """Gull under Bird, an image as Gull, five steps of history and an undone one: Tern."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(THIRD_VERSION)
