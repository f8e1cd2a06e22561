ALTER TABLE session_question ADD COLUMN answers TEXT NOT NULL DEFAULT '';
