package session

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// Reach is how far a session gets by what drives it: what it can hand to a session that it opens, and no more.
type Reach struct {
	Program string        // what makes it go: model, or the name of an agent program
	Folders []tool.Folder // whose files it has
	Skips   bool          // it asks for no permissions
	Loose   bool          // no sandbox keeps its commands in
}

// holds says whether a folder lies in what the session has, and can be changed there when that is wanted.
func (r Reach) holds(folder string, write bool) bool {
	return slices.ContainsFunc(r.Folders, func(f tool.Folder) bool { return within(f.Path, folder) && !(write && f.ReadOnly) })
}

// narrower says why one session may not open another: whatever it would get by that and does not have itself.
func (s *Session) narrower(mine Reach, opened *Session, its Reach, mayDrive bool) error {
	no := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Denied, "session.open", format, args...)
	}
	by := "let a person open it: tandem session open NAME -C FOLDER --agent PROGRAM"
	switch folder := opened.Directory; {
	case !mayDrive && its.Program != mine.Program:
		return no("this session is driven by %s, and opens none with %s", mine.Program, its.Program).
			WithNext("let a person open it, or grant it: tandem grant add session:%s session:/driver/%s --can edit", s.ID, its.Program)
	case folder != "" && !mine.holds(folder, false):
		return no("%.200s lies outside of what this session was granted, and it opens sessions only inside of that", folder).WithNext("%s", by)
	case folder != "" && its.Program != DriverModel && !mine.holds(folder, true):
		return no("this session may read %.200s and not change it, and an agent program would", folder).WithNext("%s", by)
	case its.Skips && !mine.Skips:
		return no("this session asks for its permissions, and opens none that skips them").WithNext("%s", by)
	case its.Loose && !mine.Loose:
		return no("this session is confined, and opens none that is not").WithNext("%s", by)
	case s.Mode == PlanMode && opened.Mode != PlanMode:
		return no("this session plans and changes nothing, and opens none that does").WithNext("open it with the mode plan")
	}
	return nil
}

// OpenerOf is the session that a caller is, or speaks for; "" when there is none.
func OpenerOf(c op.Caller) string { return firstSession(chainOf(c)) }

func firstSession(chain []string) string {
	for _, who := range chain {
		if name, ok := strings.CutPrefix(who, string(op.Session)+":"); ok {
			return name
		}
	}
	return ""
}

// admit is the one place where a session that is opened, copied or changed is held against the session that does it, by whichever door it
// came. People, and whoever else is no session, are held to policy alone.
func (r *Room) admit(ctx context.Context, tx *db.Tx, c op.Caller, s *Session, its Reach) error {
	name := OpenerOf(c)
	if name == "" {
		return r.bind(ctx, tx, nil, s)
	}
	opener, err := r.load(tx, c.Tenant, name, "")
	if err != nil {
		return err
	}
	if depth := countSessions(opener.chain); depth >= maxDepth {
		return fault.New(fault.Exhausted, "session.open", "a session that was opened by a session, that was opened by a session, opens no more").
			WithNext("do it yourself")
	}
	if err := r.bind(ctx, tx, opener, s); err != nil {
		return err
	}
	mine, err := r.reach(tx, opener)
	if err != nil {
		return err
	}
	if s.Directory != "" { // where a link leads counts, and what is not there is nobody's
		if real, err := filepath.EvalSymlinks(s.Directory); err == nil {
			s.Directory = real
		}
	}
	return opener.narrower(mine, s, its, op.Allowed(ctx, "session.create", op.Resource{Kind: "session", Path: "/driver/" + its.Program}))
}

// readmit is admit for a session that another one changes.
func (r *Room) readmit(ctx context.Context, tx *db.Tx, s *Session) error {
	c := op.CallerFrom(ctx)
	if OpenerOf(c) == "" {
		return nil
	}
	its, err := r.reach(tx, s)
	if err != nil {
		return err
	}
	return r.admit(ctx, tx, c, s, its)
}

func (r *Room) reach(tx *db.Tx, s *Session) (Reach, error) {
	driver := r.drivers[s.Driver]
	if driver == nil {
		return Reach{}, fault.New(fault.Internal, "session.open", "nobody drives %s", s.Driver)
	}
	return driver.Reach(tx, s)
}

func countSessions(chain []string) (n int) {
	for _, who := range chain {
		if strings.HasPrefix(who, string(op.Session)+":") {
			n++
		}
	}
	return n
}

// ModelReach is how far a session with a model gets: the granted folders that hold its own, and commands in the sandbox.
func (r *Room) ModelReach(tx *db.Tx, s *Session) (Reach, error) {
	all, err := r.granted(tx.Context(), inTx{tx}, s.Tenant)
	if err != nil {
		return Reach{}, err
	}
	free, err := r.unconfined(tx.Context(), inTx{tx}, s)
	return Reach{Program: DriverModel, Folders: s.narrowed(holding(all, s.Directory)), Loose: free}, err
}

// Whose tells to whom a session belongs: to itself and to everybody that it acts for.
func (r *Room) Whose(ctx context.Context, tenant, id string) []string {
	s, err := r.Get(ctx, tenant, id)
	if err != nil {
		return nil // nobody's
	}
	return append([]string{string(op.Session) + ":" + s.ID}, s.chain...)
}

// carry leaves what a session used with the one that opened it, when it is deleted: nobody gets a budget back by that.
func (r *Room) carry(tx *db.Tx, s *Session) error {
	opener, err := loadSession(inTx{tx}, s.Tenant, firstSession(s.chain), "")
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	used, err := r.used(inTx{tx}, s)
	if err != nil {
		return err
	}
	before, err := spentBefore(inTx{tx}, opener)
	if err != nil {
		return err
	}
	used.Tokens, used.Cost, used.Turns = used.Tokens+before.Tokens, used.Cost+before.Cost, used.Turns+before.Turns
	used.Calls, used.Seconds = used.Calls+before.Calls, used.Seconds+before.Seconds
	text, err := json.Marshal(used)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO session_spent (tenant, session, used) VALUES (?, ?, ?)
		ON CONFLICT (tenant, session) DO UPDATE SET used = excluded.used`, s.Tenant, opener.ID, string(text))
	return err
}
