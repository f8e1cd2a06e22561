package repo

import (
	"slices"
	"strings"
	"unicode"
)

// Timestamp is a moment with the writer's offset from UTC.
type Timestamp struct {
	Millis int64 // since 1970, UTC
	Offset int32 // minutes east of UTC
}

// Signature says who and when.
type Signature struct {
	Name, Email string
	When        Timestamp
}

// Signed is a commit's cryptographic signature with the bytes it covers.
type Signed struct {
	Data, Sig []byte
}

// Commit is one revision of a change.
type Commit struct {
	ID          CommitID // empty until stored
	Parents     []CommitID
	Tree        MergedTree
	ChangeID    ChangeID
	Description string
	Author      Signature
	Committer   Signature
	Signed      *Signed
}

// MergedTree is the content of a commit: one tree, or the terms of a conflict
// with a label for each.
type MergedTree struct {
	IDs    Merge[TreeID]
	Labels Labels
}

// Labels name the terms of a conflict for people; empty means unlabelled.
type Labels []string

// MakeLabels keeps labels only where they say something: a resolved merge has
// none, and a merge of empty labels has none.
func MakeLabels(m Merge[string]) Labels {
	if len(m) < 2 || !slices.ContainsFunc(m, func(s string) bool { return s != "" }) {
		return nil
	}
	return Labels(m)
}

// Add is the label of the i-th side, or "".
func (l Labels) Add(i int) string { return l.at(2 * i) }

// Remove is the label of the i-th base, or "".
func (l Labels) Remove(i int) string { return l.at(2*i + 1) }

func (l Labels) at(i int) string {
	if i < len(l) {
		return l[i]
	}
	return ""
}

// ResolvedTree is a tree without conflict.
func ResolvedTree(id TreeID) MergedTree { return MergedTree{IDs: Resolved(id)} }

// EmptyTree is the tree of a new repository.
func EmptyTree() MergedTree { return ResolvedTree(EmptyTreeID) }

// HasConflict says whether the tree is in conflict.
func (t MergedTree) HasConflict() bool { return !t.IDs.IsResolved() }

// SameIDs compares contents; labels are only for people.
func (t MergedTree) SameIDs(o MergedTree) bool { return t.IDs.Equal(o.IDs) }

// Equal compares contents and labels.
func (t MergedTree) Equal(o MergedTree) bool {
	return t.IDs.Equal(o.IDs) && slices.Equal(t.Labels, o.Labels)
}

// RootCommit is the virtual ancestor of every commit.
func RootCommit() *Commit {
	return &Commit{ID: RootCommitID, ChangeID: RootChangeID, Tree: EmptyTree()}
}

// IsRoot says whether c is the virtual root commit.
func (c *Commit) IsRoot() bool { return c.ID == RootCommitID }

// Clone is a copy that may be changed.
func (c *Commit) Clone() *Commit {
	d := *c
	d.Parents = slices.Clone(c.Parents)
	return &d
}

// ConflictLabel names the commit in conflict markers: its ids, and the first
// line of its description when it has one.
func (c *Commit) ConflictLabel() string {
	if c.Description == "" {
		return c.conflictLabelShort()
	}
	subject, _, _ := strings.Cut(c.Description, "\n")
	subject = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.TrimSpace(subject))
	return c.conflictLabelShort() + ` "` + subject + `"`
}

func (c *Commit) conflictLabelShort() string { return c.ChangeID.String()[:8] + " " + c.ID.Hex()[:8] }

// ConflictLabelFor names several commits in conflict markers.
func ConflictLabelFor(commits []*Commit) string {
	if len(commits) == 1 {
		return commits[0].ConflictLabel()
	}
	var out []string
	for _, c := range commits {
		out = append(out, c.conflictLabelShort())
	}
	return strings.Join(out, ", ")
}
