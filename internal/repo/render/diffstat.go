package render

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/text"
)

// StatEntry counts the changed lines of one file.
type StatEntry struct {
	Entry
	Added, Removed int
	Binary         bool
	Delta          int // bytes
}

// Stats counts changed lines file by file.
func (d *Diff) Stats(ctx context.Context) ([]StatEntry, error) {
	es, err := d.Entries(ctx)
	if err != nil {
		return nil, err
	}
	var out []StatEntry
	var none repo.Labels
	for _, e := range es {
		left, err := d.read(ctx, e.Before, none)
		if err != nil {
			return nil, err
		}
		right, err := d.read(ctx, e.After, none)
		if err != nil {
			return nil, err
		}
		s := StatEntry{Entry: e, Delta: int(right.size - left.size), Binary: left.binary || right.binary}
		if !s.Binary {
			for _, p := range byLine(d.compare(), left.data, right.data) {
				if !p.same {
					s.Removed += len(splitKeep(p.left))
					s.Added += len(splitKeep(p.right))
				}
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// Stat writes a histogram within a width.
func (d *Diff) Stat(ctx context.Context, o *text.Text, width int) error {
	stats, err := d.Stats(ctx)
	if err != nil {
		return err
	}
	d.WriteStats(o, stats, width)
	return nil
}

// WriteStats writes a histogram of counts within a width.
func (d *Diff) WriteStats(o *text.Text, stats []StatEntry, width int) {
	pathWidth, most, mostBytes := 0, -1, -1
	shown := make([]string, len(stats))
	for i, s := range stats {
		shown[i] = s.Shown(d.Paths)
		pathWidth = max(pathWidth, text.Width(shown[i]))
		if s.Binary {
			mostBytes = max(mostBytes, abs(s.Delta))
		} else {
			most = max(most, s.Added+s.Removed)
		}
	}
	avail := max(width-3, 8)
	numWidth := 0
	if most >= 0 {
		numWidth = len(strconv.Itoa(most))
		pathWidth = min(pathWidth, int(0.7*float64(max(0, avail-numWidth-1))))
	}
	if mostBytes >= 0 {
		w := len("(binary)")
		if mostBytes > 0 {
			w = len(fmt.Sprintf("(binary) %+d bytes", mostBytes))
		}
		pathWidth = min(pathWidth, max(0, avail-w))
	}
	bar := max(0, avail-(pathWidth+numWidth+1))
	if d.Opts.MaxBar > 0 {
		bar = min(bar, d.Opts.MaxBar)
	}
	factor := 1.0
	if most > bar {
		factor = float64(bar) / float64(most)
	}
	added, removed := 0, 0
	for i, s := range stats {
		path, w := text.Elide(shown[i], "...", pathWidth)
		o.Str(path + strings.Repeat(" ", pathWidth-w) + " | ")
		if s.Binary {
			binaryStat(o, s.Delta)
			continue
		}
		added, removed = added+s.Added, removed+s.Removed
		plus, minus := bars(s.Added, s.Removed, factor)
		o.Printf("%*d", numWidth, s.Added+s.Removed)
		if plus+minus > 0 {
			o.Str(" ")
		}
		o.Label("added", strings.Repeat("+", plus))
		o.Label("removed", strings.Repeat("-", minus)+"\n")
	}
	o.Label("stat-summary", fmt.Sprintf("%d file%s changed, %d insertion%s(+), %d deletion%s(-)\n",
		len(stats), plural(len(stats)), added, plural(added), removed, plural(removed)))
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

func bars(added, removed int, factor float64) (plus, minus int) {
	length := int(float64(added+removed) * factor)
	least := 0
	if added > 0 {
		least++
	}
	if removed > 0 {
		least++
	}
	length = max(length, least)
	if added < removed {
		plus = int(math.Ceil(float64(added) * factor))
		return plus, length - plus
	}
	minus = int(math.Ceil(float64(removed) * factor))
	return length - minus, minus
}

func binaryStat(o *text.Text, delta int) {
	o.Label("binary", "(binary)")
	if delta != 0 {
		label := "added"
		if delta < 0 {
			label = "removed"
		}
		o.Label(label, fmt.Sprintf(" %+d", delta))
		o.Str(" bytes")
	}
	o.Str("\n")
}

// Lines calls yield for removed (-1) and added (+1) lines until it says no.
func (d *Diff) Lines(ctx context.Context, yield func(side int, line []byte) bool) error {
	es, err := d.Entries(ctx)
	if err != nil {
		return err
	}
	var none repo.Labels
	for _, e := range es {
		left, err := d.read(ctx, e.Before, none)
		if err != nil {
			return err
		}
		right, err := d.read(ctx, e.After, none)
		if err != nil {
			return err
		}
		for _, p := range byLine(d.compare(), left.data, right.data) {
			if p.same {
				continue
			}
			for _, l := range splitKeep(p.left) {
				if !yield(-1, l) {
					return nil
				}
			}
			for _, l := range splitKeep(p.right) {
				if !yield(1, l) {
					return nil
				}
			}
		}
	}
	return nil
}
