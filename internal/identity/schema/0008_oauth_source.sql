-- where a program registered from
ALTER TABLE oauth_client ADD COLUMN source TEXT NOT NULL DEFAULT '';
