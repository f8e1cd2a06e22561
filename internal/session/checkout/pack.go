package checkout

import (
	"context"
	"io"
	"os"
	"strings"
)

// maxHave bounds how many commits of another repository are looked for here.
const maxHave = 4096

// Pack writes the objects of a commit that another repository lacks, as git sends them. have is what that one has: what of it is not here
// is left out.
func (t Tools) Pack(ctx context.Context, repo, commit string, have []string, to io.Writer) error {
	dir, err := t.lender(ctx, repo)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	asks := t
	asks.in = strings.NewReader(strings.Join(have[:min(len(have), maxHave)], "\n") + "\n")
	known, err := asks.run(ctx, dir, "git", "--git-dir="+dir, "cat-file", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return err
	}
	revs := []string{commit}
	for line := range strings.SplitSeq(known, "\n") {
		if name, is := strings.CutPrefix(line, "commit "); is {
			revs = append(revs, "^"+name)
		}
	}
	packs := t
	packs.in, packs.to = strings.NewReader(strings.Join(revs, "\n")+"\n"), to
	_, err = packs.run(ctx, dir, "git", "--git-dir="+dir, "-c", "core.hooksPath="+os.DevNull, "pack-objects", "--revs", "--stdout", "--thin",
		"--delta-base-offset", "-q")
	return err
}
