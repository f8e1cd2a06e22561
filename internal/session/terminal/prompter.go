package terminal

import (
	"context"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
)

// hears refuses the prompt of somebody who is denied what the session is not: the program's box was built for the session, and in it the
// program would read or change for others what they may not.
func (s *seat) hears(ctx context.Context, t *session.Turn) error {
	ses, err := s.d.room.Get(ctx, s.row.Tenant, s.row.Session)
	if err != nil {
		return err
	}
	return s.hearsAs(ctx, ses.At(t))
}

// hearsAs is hears for the session as it would work on somebody's words.
func (s *seat) hearsAs(ctx context.Context, c op.Caller) error {
	if len(c.Prompted) == 0 || s.d.gate == nil {
		return nil
	}
	who := c.Prompted
	for _, with := range []string{"bash", ""} { // commands, and looking
		c.Prompted = who
		theirs, err := s.seen(ctx, c, with)
		if err != nil {
			return err
		}
		c.Prompted = nil
		own, err := s.seen(ctx, c, with)
		if err != nil {
			return err
		}
		path, err := narrowed(s.row.Folder, own, theirs)
		if err != nil {
			return err
		}
		if path == s.row.Folder && with != "" {
			continue // the tool itself is denied, which the session's hook holds, or the folder, as is seen without it
		}
		if path != "" {
			return unheard(who, path)
		}
	}
	return nil
}

// narrowed is a place that somebody may not see or change and the session may, "" when there is none.
func narrowed(folder string, own, theirs *view) (string, error) {
	if own.sight == theirs.sight {
		return "", nil
	}
	if theirs.sight.Named(folder).Hidden && !own.sight.Named(folder).Hidden {
		return folder, nil
	}
	path, err := own.scope.Narrowed(theirs.scope)
	if fault.Is(err, fault.Exhausted) { // more is denied there than can be looked through
		return folder, nil
	}
	return path, err
}

func unheard(who [][]string, path string) error {
	var names []string
	for _, chain := range who {
		names = append(names, chain[0])
	}
	return fault.New(fault.Denied, "session.prompt",
		"the prompt is not typed: something below %s is denied to %s and not to this session, whose program was started before and sees it", path,
		strings.Join(names, ", ")).
		WithNext("deny it to the session, too, and open it again, or let a person prompt it")
}
