package terminal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session"
	"tandem/internal/tool"
)

// DeniedOutcome is the outcome of a turn that ended because something was denied that the program's box shows.
const DeniedOutcome = "error: denied"

// glance is how often the box of a running program is held against the policy. Looking costs little while the policy stands.
const glance = 300 * time.Millisecond

// outgrown says why the program may not go on as it runs: policy keeps from the session by now a place that its box shows, or lets it
// change, or a part of the network; or it was told at its own dialog to ask no more about calls of which policy denies some. "" when it
// may. What is denied to whoever prompts it alone is not in any box: see hears.
func (s *seat) outgrown(ctx context.Context) string {
	if s.stage != nil || s.d.gate == nil || time.Since(s.glanced) < glance {
		return ""
	}
	s.glanced = time.Now()
	if why := s.widened(ctx); why != "" {
		return why
	}
	if denied := s.uncovered(ctx); denied != "" {
		return denied + " was denied while the program ran, which could reach it"
	}
	return ""
}

// widened says that the program would run without asking what policy denies.
func (s *seat) widened(ctx context.Context) string {
	if len(s.always) == 0 || s.turn == nil {
		return ""
	}
	now, err := s.scope(ctx, true)
	if err != nil {
		return ""
	}
	for _, t := range s.always {
		if by := now.sight.Refuses(t); by != "" {
			return fmt.Sprintf("%q at the program's own dialog would also let through what %s denies", "always", by)
		}
	}
	return ""
}

// uncovered is a place or a part of the network that is denied by now, and that the program's box was built with.
func (s *seat) uncovered(ctx context.Context) string {
	was := s.looked.Load()
	if was == nil && s.row.Hides == nil || s.row.Confined != "bwrap" {
		return ""
	}
	now, err := s.scope(ctx, false)
	if err != nil || now.sight == s.judged {
		return "" // a storage that does not answer says nothing
	}
	var path string
	if was == nil { // the server was started anew, and what its box hides is in its row
		path, err = s.unhidden(now)
	} else if path = now.sight.CutOff(was.unreached); path == "" {
		if path, err = was.scope.Narrowed(now.scope); fault.Is(err, fault.Exhausted) { // its box was built by what policy names alone
			path, err = was.scope.NarrowedTrees(now.scope)
		}
	}
	if err != nil {
		s.d.log.Error("hold a program's box against the policy", "session", s.row.Session, "err", err)
		return ""
	}
	s.judged = now.sight
	return path
}

// unhidden is what policy hides from the session and a box that was built before the server started does not.
func (s *seat) unhidden(now *view) (string, error) {
	masks, err := now.masks()
	if err != nil {
		return "", err
	}
	now.unreached = now.sight.Unreached()
	for _, m := range append(denied(masks), cut(now.unreached)...) {
		if !slices.Contains(*s.row.Hides, m) {
			_, path, _ := strings.Cut(m, " ")
			return path, nil
		}
	}
	s.looked.Store(now)
	return "", nil
}

// cut are the denied parts of the network, each behind one word as denied has them.
func cut(unreached []string) (out []string) {
	for _, u := range unreached {
		out = append(out, "cut "+u)
	}
	return out
}

// denied are the masks that a person's word made, each as one word on how and the place.
func denied(masks []tool.Mask) []string {
	out := []string{}
	for _, m := range masks {
		switch {
		case m.House() || m.How == tool.Show:
		case m.How == tool.Fix:
			out = append(out, "fix "+m.Path)
		default:
			out = append(out, "hide "+m.Path)
		}
	}
	return out
}

// rebox ends a program that has outgrown what policy lets it, with all that it runs, and starts it again in a box that shows nothing that
// is denied; what is denied of the network its calls are held to from then on. Its turn ends with that reason, and its conversation goes
// on.
func (s *seat) rebox(ctx context.Context, why string) {
	if err := slay(s.pane.PID); err != nil {
		s.d.log.Error("end a program that reaches what was denied", "session", s.row.Session, "err", err)
	}
	s.prog.read(ctx)
	why += ": the program was ended"
	s.set(Starting, "policy", why)
	if s.turn != nil {
		s.finish(ctx, session.Failed, DeniedOutcome, "policy",
			why+"; the conversation goes on in a new box: send the prompt again if it still holds")
	}
	s.d.log.Info("a program was ended and is started in a new box", "session", s.row.Session, "why", why)
	if err := s.launch(ctx); err != nil {
		s.gone(ctx, Crashed, "policy", why+", and could not be started again: "+fault.Public(err).Msg)
	}
}
