package checkout

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Step is a commit on a line of work.
type Step struct {
	ID      string
	Parents []string
	Subject string
	At      time.Time
}

// Steps are the commits of a line of work that another commit does not hold, oldest first; of a merge the side that came in is left out.
func (t Tools) Steps(ctx context.Context, repo, base, commit string, most int) (all []Step, err error) {
	out, err := t.git(ctx, repo, "log", "--first-parent", "--reverse", "--max-count="+strconv.Itoa(most), "-z",
		"--format=%H%n%P%n%ct%n%s", base+".."+commit)
	for one := range strings.SplitSeq(out, "\x00") {
		f := strings.SplitN(one, "\n", 4)
		if len(f) < 4 {
			continue
		}
		at, _ := strconv.ParseInt(f[2], 10, 64) // git wrote it
		all = append(all, Step{ID: f[0], Parents: strings.Fields(f[1]), Subject: f[3], At: time.Unix(at, 0).UTC()})
	}
	return all, err
}

// Expected are the files that two commits make together where nobody does anything beside: the first as it is when it holds the second.
// What does not go together has the marks of a conflict in it, or stands beside its name (see Named). Git follows a file to the name that
// one side gave it, with what the other side wrote into it: carried are the files of which that may be true, where sees says no to one
// that a side took away or named anew.
func (t Tools) Expected(ctx context.Context, repo, one, other string, sees func(path string) bool) (tree string, carried map[string]bool,
	err error) {
	if other == "" || t.Holds(ctx, repo, one, other) {
		return one, nil, nil
	}
	merge := t
	merge.unsure = true
	out, err := merge.git(ctx, repo, "-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", "--no-messages", one, other)
	if err != nil {
		return "", nil, err
	}
	tree, _, _ = strings.Cut(out, "\n")
	carried, err = t.carried(ctx, repo, one, other, tree, sees)
	return tree, carried, err
}

// carried are the files of a merged tree that no common ancestor has, and that are as neither side has them: what is in them stood
// elsewhere. There are none where nothing that sees says no to is gone from its name.
func (t Tools) carried(ctx context.Context, repo, one, other, tree string, sees func(path string) bool) (map[string]bool, error) {
	bases, err := t.git(ctx, repo, "merge-base", "--all", one, other)
	if err != nil {
		return nil, err
	}
	left, fresh := false, map[string]bool{}
	for base := range strings.FieldsSeq(bases) {
		for _, side := range []string{one, other} {
			gone, err := t.differing(ctx, repo, base, side, "D")
			if err != nil {
				return nil, err
			}
			left = left || slices.ContainsFunc(gone, func(name string) bool { return !sees(name) })
		}
		added, err := t.differing(ctx, repo, base, tree, "A")
		if err != nil {
			return nil, err
		}
		for _, name := range added {
			fresh[name] = true
		}
	}
	if !left {
		return nil, nil
	}
	for _, side := range []string{one, other} {
		of, err := t.differing(ctx, repo, side, tree, "AMT")
		if err != nil {
			return nil, err
		}
		both := map[string]bool{}
		for _, name := range of {
			both[name] = fresh[name]
		}
		maps.DeleteFunc(fresh, func(name string, _ bool) bool { return !both[name] })
	}
	return fresh, nil
}

// differing are the files that differ in some of the ways between two trees, by their names alone.
func (t Tools) differing(ctx context.Context, repo, from, to, ways string) ([]string, error) {
	out, err := t.git(ctx, repo, "diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter="+ways, from, to)
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

// aside is how git names a file in the place of which the other side has a folder, or something else that is no file: after the commit.
var aside = regexp.MustCompile(`~[0-9a-f]{40,64}(_[0-9]+)?$`)

// Named is the name under which the file was written that stands in a merged tree: where git set it aside, that is another one.
func Named(file string) string { return aside.ReplaceAllString(file, "") }
