package since

import (
	"context"
	"fmt"
	"hash/fnv"
)

// Marks are what is kept in memory of a folder while a turn runs: enough to count what changed, and no names.
type Marks struct {
	head  string
	files map[uint64]uint64
	whole bool
}

// Mark notes how a folder stands, without reading its files.
func Mark(ctx context.Context, folder string, skip Skip) (*Marks, error) {
	b, err := look(ctx, folder, nil, skip, true)
	if err != nil {
		return nil, err
	}
	m := &Marks{head: b.Head, files: make(map[uint64]uint64, len(b.Files)), whole: b.Partly == ""}
	for name, f := range b.Files {
		f.Kept = 0 // a link to it, or a right taken back and given again, is no change that is counted
		m.files[sum(name)] = sum(fmt.Sprint(f))
	}
	return m, nil
}

func sum(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// Until tells what became of the folder: the commit that it stands at, if it moved there meanwhile, and how many files changed, came or
// went; -1 when not all of it was seen.
func (m *Marks) Until(now *Marks) (commit string, files int) {
	if now.head != m.head {
		commit = now.head
	}
	if !m.whole || !now.whole {
		return commit, -1
	}
	for name, f := range now.files {
		if was, ok := m.files[name]; !ok || was != f {
			files++
		}
	}
	for name := range m.files {
		if _, ok := now.files[name]; !ok {
			files++
		}
	}
	return commit, files
}
