CREATE INDEX journal_event_actor ON journal_event (actor, seq);
