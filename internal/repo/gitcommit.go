package repo

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Header names of jj in git's commits.
const (
	headerLabels   = "jj:conflict-labels"
	headerTrees    = "jj:trees"
	headerChangeID = "change-id"
	headerSig      = "gpgsig"
	// emptyName stands for an empty name or email, which git does not allow.
	emptyName = "JJ_EMPTY_STRING"
)

// EncodeCommit is the commit as git stores it, with jj's headers. A conflicted
// commit needs a tree that git can show; it is put into the store first. A
// signed commit is encoded with its signature only if the rest is unchanged.
func EncodeCommit(ctx context.Context, s Store, c *Commit) ([]byte, error) {
	if len(c.Parents) == 0 {
		return nil, fmt.Errorf("a commit needs a parent, if only the root commit")
	}
	if len(c.Parents) > 1 && slices.Contains(c.Parents, RootCommitID) {
		return nil, fmt.Errorf("The Git backend does not support creating merge commits with the root commit as one of the parents.")
	}
	tree := c.Tree.IDs.First()
	if c.Tree.HasConflict() {
		var err error
		if tree, err = putConflictTree(ctx, s, c.Tree.IDs); err != nil {
			return nil, err
		}
	}
	if slices.Contains(c.Tree.IDs, EmptyTreeID) {
		// Git wants the empty tree to exist; jj never asks for it.
		if _, err := s.PutTree(ctx, nil); err != nil {
			return nil, err
		}
	}
	var b []byte
	b = fmt.Appendf(b, "tree %x\n", string(tree))
	for _, p := range c.Parents {
		if p != RootCommitID {
			b = fmt.Appendf(b, "parent %x\n", string(p))
		}
	}
	var err error
	if b, err = appendSignature(b, "author", c.Author); err != nil {
		return nil, err
	}
	if b, err = appendSignature(b, "committer", c.Committer); err != nil {
		return nil, err
	}
	if len(c.Tree.Labels) > 0 {
		b = appendHeader(b, headerLabels, strings.Join(c.Tree.Labels, "\n")+"\n")
	}
	if c.Tree.HasConflict() {
		ids := MapMerge(c.Tree.IDs, TreeID.Hex)
		b = appendHeader(b, headerTrees, strings.Join(ids, " "))
	}
	b = appendHeader(b, headerChangeID, c.ChangeID.String())
	signedData := append(slices.Clone(b), "\n"+c.Description...)
	if c.Signed != nil && bytes.Equal(c.Signed.Data, signedData) {
		b = appendHeader(b, headerSig, string(c.Signed.Sig))
	}
	b = append(b, '\n')
	return append(b, c.Description...), nil
}

func appendHeader(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ' ')
	value = strings.TrimSuffix(value, "\n") // a final newline is the header's own
	b = append(b, strings.ReplaceAll(value, "\n", "\n ")...)
	return append(b, '\n')
}

func appendSignature(b []byte, who string, s Signature) ([]byte, error) {
	name, email := s.Name, s.Email
	if name == "" {
		name = emptyName
	}
	if email == "" {
		email = emptyName
	}
	if strings.ContainsAny(name+email, "<>\n") {
		return nil, fmt.Errorf("%s name or email holds '<', '>' or a newline", who)
	}
	seconds := floorDiv(s.When.Millis, 1000)
	offset, sign := s.When.Offset, '+'
	if offset < 0 {
		offset, sign = -offset, '-'
	}
	return fmt.Appendf(b, "%s %s <%s> %d %c%02d%02d\n", who, name, email, seconds, sign, offset/60, offset%60), nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// conflictReadme is what jj puts beside the parts of a conflict; its bytes are
// part of the commit's id, so they are jj's own.
const conflictReadme = "This commit was made by jj, https://jj-vcs.dev/.\n" +
	"The commit contains file conflicts, and therefore looks wrong when used with\n" +
	"plain Git or other tools that are unfamiliar with jj.\n\n" +
	"The .jjconflict-* directories represent the different inputs to the conflict.\n" +
	"For details, see\n" +
	"https://docs.jj-vcs.dev/latest/git-compatibility/#format-mapping-details\n\n" +
	"If you see this file in your working copy, it probably means that you used a\n" +
	"regular `git` command to check out a conflicted commit. Use `jj abandon` to\n" +
	"recover.\n"

const conflictReadmeName = "JJ-CONFLICT-README"

// putConflictTree makes the tree that git sees of a conflict: the first side,
// and every term in a directory of its own.
func putConflictTree(ctx context.Context, s Store, ids Merge[TreeID]) (TreeID, error) {
	first, err := s.Tree(ctx, ids.First())
	if err != nil {
		return "", err
	}
	readme, err := s.PutFile(ctx, []byte(conflictReadme))
	if err != nil {
		return "", err
	}
	t := Tree{{conflictReadmeName, TreeValue{File, string(readme)}}}
	for i, id := range ids {
		name := ".jjconflict-side-"
		if i%2 == 1 {
			name = ".jjconflict-base-"
		}
		t = append(t, Entry{name + strconv.Itoa(i/2), TreeValue{Subtree, string(id)}})
	}
	for _, e := range first {
		if !strings.HasPrefix(e.Name, ".jjconflict") && e.Name != conflictReadmeName {
			t = append(t, e)
		}
	}
	SortTree(t)
	return s.PutTree(ctx, t)
}

// DecodeCommit reads a commit as git stores it. A commit that git made without
// a change id gets the synthetic one.
func DecodeCommit(id CommitID, data []byte) (*Commit, error) {
	fail := func(what string) (*Commit, error) {
		return nil, fmt.Errorf("commit %s: %s", id.Hex(), what)
	}
	c := &Commit{ID: id}
	lines := headerLines{rest: data}
	treeHex, ok := lines.take("tree")
	tree, ok2 := ParseTreeID(treeHex)
	if !ok || !ok2 {
		return fail("no tree")
	}
	for {
		h, ok := lines.take("parent")
		if !ok {
			break
		}
		p, ok := ParseCommitID(h)
		if !ok {
			return fail("bad parent")
		}
		c.Parents = append(c.Parents, p)
	}
	if len(c.Parents) == 0 {
		c.Parents = []CommitID{RootCommitID}
	}
	author, ok := lines.take("author")
	if !ok || !parseSignature(author, &c.Author) {
		return fail("bad author")
	}
	committer, ok := lines.take("committer")
	if !ok || !parseSignature(committer, &c.Committer) {
		return fail("bad committer")
	}
	c.Tree.IDs = Resolved(tree)
	extra := lines.headers()
	if lines.bad || len(lines.rest) == 0 || lines.rest[0] != '\n' {
		return fail("no message")
	}
	c.Description = lossy(string(lines.rest[1:]))
	seen := map[string]bool{}
	for _, h := range extra {
		if seen[h.name] {
			continue
		}
		seen[h.name] = true
		switch h.name {
		case headerChangeID:
			if change, ok := ParseChangeID(h.value); ok {
				c.ChangeID = change
			}
		case headerTrees:
			ids, ok := parseTrees(h.value)
			if !ok {
				return fail("Invalid jj:trees header")
			}
			c.Tree.IDs = ids
		case headerLabels:
			m := strings.Split(strings.TrimSuffix(h.value, "\n"), "\n")
			if len(m)%2 == 0 {
				return fail("an even number of conflict labels")
			}
			c.Tree.Labels = MakeLabels(m)
		case headerSig:
			unsigned := slices.Concat(data[:h.from], data[h.to:])
			c.Signed = &Signed{Data: unsigned, Sig: []byte(h.value)}
		}
	}
	if c.ChangeID == "" {
		c.ChangeID = SyntheticChangeID(id)
	}
	return c, nil
}

// lossy makes text of bytes that may not be: a mangled message is better than
// none.
func lossy(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func parseTrees(s string) (Merge[TreeID], bool) {
	var ids Merge[TreeID]
	for _, h := range strings.Split(s, " ") {
		id, ok := ParseTreeID(h)
		if !ok {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, len(ids) > 1 && len(ids)%2 == 1
}

// headerLines reads a git object's header from the front.
type headerLines struct {
	rest []byte
	pos  int
	bad  bool
}

// take consumes a one-line header of that name.
func (l *headerLines) take(name string) (string, bool) {
	line, _, ok := bytes.Cut(l.rest, []byte{'\n'})
	value, ok2 := bytes.CutPrefix(line, []byte(name+" "))
	if !ok || !ok2 {
		return "", false
	}
	l.skip(len(line) + 1)
	return string(value), true
}

func (l *headerLines) skip(n int) {
	l.rest = l.rest[n:]
	l.pos += n
}

type header struct {
	name, value string
	from, to    int // the header's bytes in the object
}

// headers consumes the headers up to the empty line. A value that goes on over
// several lines keeps its final newline, one of a single line has none.
func (l *headerLines) headers() []header {
	var out []header
	for len(l.rest) > 0 && l.rest[0] != '\n' {
		h := header{from: l.pos}
		line, _, ok := bytes.Cut(l.rest, []byte{'\n'})
		name, value, ok2 := bytes.Cut(line, []byte{' '})
		if !ok || !ok2 || len(name) == 0 {
			l.bad = true
			return nil
		}
		h.name, h.value = string(name), string(value)
		l.skip(len(line) + 1)
		for len(l.rest) > 0 && l.rest[0] == ' ' {
			more, _, ok := bytes.Cut(l.rest[1:], []byte{'\n'})
			if !ok {
				l.bad = true
				return nil
			}
			if !strings.HasSuffix(h.value, "\n") {
				h.value += "\n"
			}
			h.value += string(more) + "\n"
			l.skip(len(more) + 2)
		}
		h.to = l.pos
		out = append(out, h)
	}
	return out
}

// parseSignature reads "Name <email> seconds +hhmm"; a time that makes no
// sense is the epoch.
func parseSignature(line string, s *Signature) bool {
	end := strings.LastIndexByte(line, '>')
	if end < 0 {
		return false
	}
	start := strings.IndexByte(line[:end], '<')
	if start < 0 {
		return false
	}
	s.Name = strings.TrimSuffix(line[:start], " ")
	email := strings.TrimLeft(line[start:end], "<")
	s.Email = strings.TrimRight(email, ">")
	if s.Name == emptyName {
		s.Name = ""
	}
	if s.Email == emptyName {
		s.Email = ""
	}
	s.Name = lossy(s.Name)
	s.Email = lossy(s.Email)
	when := strings.Fields(line[end+1:])
	if len(when) != 2 || len(when[1]) != 5 {
		return true
	}
	seconds, err := strconv.ParseInt(when[0], 10, 64)
	zone, err2 := strconv.ParseInt(when[1][1:], 10, 32)
	if err != nil || err2 != nil || zone < 0 || seconds > 1<<53 || seconds < -1<<53 {
		return true
	}
	minutes := int32(zone/100*60 + zone%100)
	if when[1][0] == '-' {
		minutes = -minutes
	}
	s.When = Timestamp{seconds * 1000, minutes}
	return true
}
