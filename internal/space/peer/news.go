package peer

import (
	"encoding/json"
	"fmt"
	"strings"

	"tandem/internal/board"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// maxNews is how many changes wait to be told with the next answer; the log has
// all of them.
const maxNews = 10

// hear keeps what others changed that concerns this member, until its next
// answer tells it: variables, and claims of its own that ran out. The caller
// holds s.mu.
func (s *seat) hear(n note) {
	switch n.entry.Class {
	case space.ClassVar:
		var v Variable
		if n.entry.Env.From == s.me.Card().ID || n.content == nil || json.Unmarshal(n.content, &v) != nil {
			return
		}
		by := escape(s.name(n.entry.Env.From))
		if v.Value == "" {
			s.tellLater(fmt.Sprintf("%s deleted the variable %q", by, escape(v.Key)))
			return
		}
		s.tellLater(fmt.Sprintf("%s set the variable %q = %q", by, escape(v.Key), clip(escape(v.Value))))
	case space.ClassExpire:
		var f board.ExpireFacts
		if json.Unmarshal(n.entry.Facts, &f) == nil && seal.MemberID(f.Holder) == s.me.Card().ID {
			s.tellLater(fmt.Sprintf("your claim of %s ran out; it is open again", f.Task))
		}
	}
}

func (s *seat) tellLater(line string) {
	if s.news = append(s.news, line); len(s.news) > maxNews {
		s.news, s.unheard = s.news[1:], s.unheard+1
	}
}

// takeNews is what changed since the last answer, a line each.
func (s *seat) takeNews() string {
	if len(s.news) == 0 {
		return ""
	}
	out := "\n\nChanged meanwhile:\n  " + strings.Join(s.news, "\n  ")
	if s.unheard > 0 {
		out += fmt.Sprintf("\n  and %d earlier changes: see intandem_activity_log", s.unheard)
	}
	s.news, s.unheard = nil, 0
	return out
}
