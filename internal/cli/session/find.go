package session

import (
	"context"
	"strings"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	room "tandem/internal/session"
	"tandem/internal/session/terminal"
)

// sessionID is the id of a session that somebody named by its id or its name. Of several with one name it is the newest that has a
// terminal, else the newest: names are free again once a session was closed.
func sessionID(ctx context.Context, k *kit.Kit, named string) (string, error) {
	if strings.HasPrefix(named, "ses_") {
		return named, nil
	}
	name := strings.TrimPrefix(named, terminal.Prefix)
	for _, archived := range []bool{false, true} {
		out, err := op.Do(ctx, k, room.SessionList, room.ListIn{Title: name, Archived: archived, Limit: 100})
		if err != nil {
			return "", err
		}
		for _, s := range out.Sessions {
			if s.Driver == terminal.DriverName {
				return s.ID, nil
			}
		}
		if len(out.Sessions) > 0 {
			return out.Sessions[0].ID, nil
		}
	}
	return "", fault.New(fault.NotFound, "session", "there is no session %.64s", named).WithNext("list them: tandem session list")
}

// sessionName is the name of a terminal session, for programs that know no ids.
func sessionName(ctx context.Context, k *kit.Kit, named string) (string, error) {
	if !strings.HasPrefix(named, "ses_") {
		return strings.TrimPrefix(named, terminal.Prefix), nil
	}
	s, err := op.Do(ctx, k, room.SessionGet, room.IDIn{ID: named})
	if err != nil {
		return "", err
	}
	return s.Title, nil
}
