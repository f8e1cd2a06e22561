package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// maxShownDiff is how long a diff is that stands for its arguments in an ask.
const maxShownDiff = 96 << 10

// holding names what a file holds, for an approval to be bound to.
func holding(content []byte, exists bool) string {
	if !exists {
		return "is not there"
	}
	sum := sha256.Sum256(content)
	return fmt.Sprintf("%d bytes, SHA-256 %s", len(content), hex.EncodeToString(sum[:]))
}

// bindFile says what a file holds now and how a change would leave it: its diff has line numbers and context, and shows the
// arguments that it is made of.
func bindFile(p tool.Place, change func(before string) (string, error), shows ...string) ([]op.Bound, error) {
	before, err := p.ReadFile(maxFile)
	exists := err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	out := []op.Bound{{Name: "file " + p.Path, Value: holding(before, exists)}}
	after, err := change(string(before))
	if err != nil {
		return nil, err
	}
	text := tool.Unified(p.Path, string(before), after)
	if len(text) > maxShownDiff || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return out, nil // the arguments are shown as they are
	}
	return append(out, op.Bound{Name: "diff of " + p.Path, Value: text, Shown: true, Diff: true, Covers: shows}), nil
}

// unchanged refuses a change to a file that is not as it was when a person approved it.
func unchanged(ctx context.Context, p tool.Place, content []byte, exists bool) error {
	if was, asked := op.BoundIn(ctx, "file "+p.Path); asked && was != holding(content, exists) {
		return fault.New(fault.Conflict, "tool", "%s changed after the approval was given", p.Path).
			WithNext("read it again and repeat the call: it is asked about anew")
	}
	return nil
}

// bindFiles says what the files of a patch hold now; the patch itself is the diff.
func bindFiles(files []patched) (out []op.Bound, err error) {
	for _, f := range files {
		places := []tool.Place{f.at}
		if f.target != nil {
			places = append(places, *f.target)
		}
		for _, p := range places {
			content, err := p.ReadFile(maxFile)
			if err != nil && !fault.Is(err, fault.NotFound) {
				return nil, err
			}
			out = append(out, op.Bound{Name: "file " + p.Path, Value: holding(content, err == nil)})
		}
	}
	return out, nil
}
