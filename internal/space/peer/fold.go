package peer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"tandem/internal/board"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// fold takes one verified entry, and its words when they could be opened, into
// the seat's picture of the space.
func (s *seat) fold(e *space.Entry, content []byte) error {
	if evs, err := board.Events(e); err != nil {
		return err
	} else if err := s.foldBoard(e, evs, content); err != nil {
		return err
	}
	if e.Env == nil {
		return s.foldHost(e)
	}
	from, env := e.Env.From, e.Env
	if from == s.me.Card().ID {
		s.posted.add(env.ID, e.Seq)
	}
	switch e.Class {
	case space.ClassCommit:
		var c space.CommitClear
		if err := space.Clear(env, &c); err != nil {
			return err
		}
		if !slices.Contains(s.sec.Void, e.Seq) {
			s.keyed, s.brought[from] = e.At, e.At
		}
		for _, card := range c.Add {
			s.brought[card.ID] = e.At
			s.cards[card.ID] = card
			s.order = append(s.order, card.ID)
		}
		for _, id := range c.Remove {
			if s.gone[id] == "" {
				s.gone[id] = removed
			}
			s.unlease(id)
		}
	case space.ClassLeave:
		s.gone[from] = left
		s.unlease(from)
	case space.ClassReceipt:
		_, err := marks(e)
		return err
	case space.ClassVar:
		return s.foldVar(e, content)
	case space.ClassReserve, space.ClassShared, space.ClassRelease:
		return s.foldLease(e, content)
	case space.ClassProfile:
		var p Profile
		if content != nil && json.Unmarshal(content, &p) == nil {
			s.profiles[from] = p
		}
	case space.ClassFinding:
		var f Finding
		if content != nil && json.Unmarshal(content, &f) == nil {
			f.By, f.At = string(from), e.At
			s.findings = slices.DeleteFunc(s.findings, func(o Finding) bool { return o.ID == f.ID })
			s.findings = append(s.findings, f)
		}
	case space.ClassTakeOver:
		s.terms = append(s.terms, e)
		s.creator, s.heir = from, "" // who keeps the house now may also remove
	}
	return nil
}

func (s *seat) foldHost(e *space.Entry) error {
	if e.Class == space.ClassHandOver {
		var f space.HandOverFacts
		if err := json.Unmarshal(e.Facts, &f); err != nil {
			return fmt.Errorf("entry %d: a hand-over to nobody", e.Seq)
		}
		s.heir = f.To
		return nil
	}
	if e.Class != "host.start" {
		return nil
	}
	var f space.StartFacts
	if err := json.Unmarshal(e.Facts, &f); err != nil || f.Space != s.space {
		return fmt.Errorf("the space's first entry is malformed")
	}
	s.cards[f.Creator.ID], s.creator, s.max = f.Creator, f.Creator.ID, f.Members
	s.order = append(s.order, f.Creator.ID)
	s.keyed, s.brought[f.Creator.ID] = e.At, e.At
	return nil
}

func (s *seat) foldVar(e *space.Entry, content []byte) error {
	var c space.VarClear
	if err := space.Clear(e.Env, &c); err != nil {
		return err
	}
	if c.Delete {
		delete(s.vars, c.Tag)
		return nil
	}
	var v Variable
	if content != nil && json.Unmarshal(content, &v) == nil && s.sec.Space.Tag("var", v.Key) == c.Tag {
		v.By, v.At = string(e.Env.From), e.At
		s.vars[c.Tag] = v
	}
	return nil
}

// unlease drops what somebody held who is gone.
func (s *seat) unlease(id seal.MemberID) {
	maps.DeleteFunc(s.paths, func(_ string, p Path) bool { return p.By == string(id) })
}

func (s *seat) foldLease(e *space.Entry, content []byte) error {
	var c space.LeaseClear
	if err := space.Clear(e.Env, &c); err != nil {
		return err
	}
	from := e.Env.From
	known := s.paths[c.Tag].Path
	if known == "" {
		known = s.paths[together(c.Tag, from)].Path
	}
	delete(s.paths, together(c.Tag, from)) // whatever they had there before
	if s.paths[c.Tag].By == string(from) {
		delete(s.paths, c.Tag)
	}
	if e.Class == space.ClassRelease {
		return nil
	}
	var f space.LeaseFacts
	if err := json.Unmarshal(e.Facts, &f); err != nil {
		return fmt.Errorf("entry %d: a lease without its end", e.Seq)
	}
	var p Path
	if content != nil {
		if err := json.Unmarshal(content, &p); err != nil {
			p = Path{}
		}
	}
	if p.Path == "" {
		p.Path = known
	}
	p.By, p.Until, p.Shared = string(from), f.Until, e.Class == space.ClassShared
	if p.Shared {
		s.paths[together(c.Tag, from)] = p
	} else {
		s.paths[c.Tag] = p
	}
	return nil
}

// together is the name of a member's part in a lease that it shares with others.
func together(tag string, by seal.MemberID) string { return tag + " " + string(by) }

func (s *seat) foldBoard(e *space.Entry, evs []board.Event, content []byte) error {
	for i, ev := range evs {
		if _, err := s.board.Apply(ev); err != nil {
			return fmt.Errorf("entry %d: the host let through what the board forbids: %w", e.Seq, err)
		}
		if content == nil {
			continue
		}
		w := s.words[ev.Task]
		if e.Class == board.ClassPlan {
			var p PlanWords
			var raw struct{ Tasks []json.RawMessage }
			if json.Unmarshal(content, &p) == nil && i < len(p.Tasks) && json.Unmarshal(content, &raw) == nil {
				w = p.Tasks[i]
				w.Labels = labelled(nil, w.Labels)
				s.keepNewer(ev, raw.Tasks[i], e.At)
			}
		} else {
			w = w.said(ev, content, e.At, s.board[ev.Task].Status.Ended())
			s.keepNewer(ev, content, e.At)
		}
		s.words[ev.Task] = w
	}
	return nil
}

// said are the words once an event came in with what it says.
func (w TaskWords) said(ev board.Event, content []byte, at int64, ended bool) TaskWords {
	var n EditWords
	if json.Unmarshal(content, &n) == nil {
		if ev.Kind == board.KindEdit {
			w.Labels = unlabelled(w.Labels, n.Unlabel)
			if n.Apart {
				w.Parent = ""
			}
		}
		w = w.after(ev, n.TaskWords, at)
	}
	var c CommentWords
	if ev.Kind == board.KindComment && json.Unmarshal(content, &c) == nil && c.Away != "" {
		w.Archived = c.Away == AwayPut && ended
	}
	return w
}

// after are the words once an event came in with words of its own.
func (w TaskWords) after(ev board.Event, n TaskWords, at int64) TaskWords {
	switch ev.Kind {
	case board.KindComment:
		w.Comments = slices.Clone(w.Comments)
		for _, c := range n.Comments {
			w.Comments = append(w.Comments, Comment{By: ev.By, At: at, Text: c.Text})
		}
		w.Comments = w.Comments[max(0, len(w.Comments)-keptComments):]
		return w
	case board.KindReopen:
		w.Archived = false
	case board.KindEdit: // why it is blocked stays
		n.Reason = w.Reason
	}
	return w.with(n)
}

func (w TaskWords) with(n TaskWords) TaskWords {
	if n.Title != "" {
		w.Title = n.Title
	}
	if n.Description != "" {
		w.Description = n.Description
	}
	if n.Result != "" {
		w.Result = n.Result
	}
	if n.Parent != "" {
		w.Parent = n.Parent
	}
	w.Reason, w.Labels = n.Reason, labelled(w.Labels, n.Labels)
	return w
}
