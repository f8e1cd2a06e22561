package repo

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/blake2b"
	"google.golang.org/protobuf/encoding/protowire"
)

// ViewScanner finds the ids of views and the commits they name, without making
// Views: where many agents work, each of many views lists all their workspaces
// and heads, one differs little from the next, and most of them nobody will ever
// look at.
type ViewScanner struct {
	named map[string]CommitID // the commits that the views name
	names map[string]string   // of workspaces

	heads      []CommitID
	workspaces []workspaceAt
	hash       hashWriter

	// What is neither head nor workspace seldom changes. It is kept as it came
	// last, and as the id has it.
	began bool
	rest  string
	refs  hashWriter
	old   CommitID // of the one workspace that jj had once
}

// Named are the commits that the views named so far.
func (s *ViewScanner) Named() []CommitID {
	out := make([]CommitID, 0, len(s.named))
	for _, id := range s.named {
		out = append(out, id)
	}
	return out
}

// Scan is the id of a view.
func (s *ViewScanner) Scan(data []byte) (ViewID, error) {
	s.heads, s.workspaces = s.heads[:0], s.workspaces[:0]
	rest, err := fields(data, s.field)
	if err != nil {
		return "", fmt.Errorf("decode view: %w", err)
	}
	if !s.began || rest != s.rest {
		if err := s.takeRest(rest); err != nil {
			return "", err
		}
	}
	isDefault := func(w workspaceAt) bool { return w.name == DefaultWorkspace }
	if s.old != "" && !slices.ContainsFunc(s.workspaces, isDefault) {
		s.workspaces = append(s.workspaces, workspaceAt{DefaultWorkspace, s.old})
	}
	if !slices.IsSorted(s.heads) {
		slices.Sort(s.heads)
	}
	byName := func(a, b workspaceAt) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(s.workspaces, byName) {
		slices.SortStableFunc(s.workspaces, byName)
	}
	last := s.workspaces[:0] // of one name the last counts
	for i, w := range s.workspaces {
		if i+1 == len(s.workspaces) || s.workspaces[i+1].name != w.name {
			last = append(last, w)
		}
	}
	s.hash = s.hash[:0]
	s.hash.heads(slices.Compact(s.heads))
	s.hash = append(s.hash, s.refs...)
	s.hash.workspaces(last)
	sum := blake2b.Sum512(s.hash)
	return ViewID(sum[:]), nil
}

// takeRest reads what is neither head nor workspace.
func (s *ViewScanner) takeRest(rest string) error {
	s.began = false
	d, err := decodeView([]byte(rest))
	if err != nil {
		return err
	}
	for _, id := range d.View.CommitIDs() {
		s.commit([]byte(id))
	}
	s.refs = s.refs[:0]
	s.refs.refs(d.View)
	s.old = s.commit([]byte(d.oldWorkspace))
	s.began, s.rest = true, rest
	return nil
}

func (s *ViewScanner) field(num protowire.Number, f field) (known bool, err error) {
	switch num {
	case 1:
		id, err := f.bytes()
		s.heads = append(s.heads, s.commit(id))
		return true, err
	case 8:
		w, err := s.workspace(f)
		s.workspaces = append(s.workspaces, w)
		return true, err
	}
	return false, nil
}

func (s *ViewScanner) workspace(f field) (w workspaceAt, err error) {
	_, err = f.message(func(num protowire.Number, f field) (known bool, err error) {
		b, err := f.bytes()
		switch {
		case num == 1 && err == nil && !utf8.Valid(b):
			return true, fmt.Errorf("is not UTF-8")
		case num == 1:
			w.name = s.name(b)
		case num == 2:
			w.at = s.commit(b)
		default:
			return false, nil
		}
		return true, err
	})
	return w, err
}

// commit notes that a commit is named. The same id is the same text each time.
func (s *ViewScanner) commit(b []byte) CommitID {
	if len(b) == 0 {
		return "" // names none
	}
	id, ok := s.named[string(b)]
	if !ok {
		if s.named == nil {
			s.named = map[string]CommitID{}
		}
		id = CommitID(b)
		s.named[string(id)] = id
	}
	return id
}

func (s *ViewScanner) name(b []byte) string {
	name, ok := s.names[string(b)]
	if !ok {
		if s.names == nil {
			s.names = map[string]string{}
		}
		name = string(b)
		s.names[name] = name
	}
	return name
}
