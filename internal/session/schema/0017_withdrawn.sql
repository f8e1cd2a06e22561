-- A question whose call ended without an answer waited for ever: in the inbox, and for whoever answered it in vain.
UPDATE session_question SET state = 'withdrawn' WHERE state = 'pending' AND EXISTS (SELECT 1 FROM session_call c
	WHERE c.tenant = session_question.tenant AND c.id = session_question.call AND c.state IN ('done', 'failed'));
