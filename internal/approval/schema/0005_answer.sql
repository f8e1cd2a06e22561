-- what an ask needs beside somebody who may answer it, and who answered how: two people may have to
ALTER TABLE approval ADD COLUMN needs TEXT NOT NULL DEFAULT '';
ALTER TABLE approval ADD COLUMN answers TEXT NOT NULL DEFAULT '';
