package gitstore

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"tandem/internal/repo"
)

// extras is jj's table of what git commits cannot hold, store/extra. Commits
// with a change-id header need nothing of it; it is read for those without,
// to which an older jj may have given a change id, and never written: jj
// rebuilds what it misses.
type extras struct {
	dir  string
	once sync.Once
	segs []tableSegment
	err  error
}

// tableSegment is one file of the table: sorted keys with offsets of values.
type tableSegment struct {
	parent string
	index  []byte // (key 20, offset 4) …
	values []byte
}

const (
	tableKey   = repo.CommitIDLen
	tableEntry = tableKey + 4
)

func newExtras(dir string) *extras { return &extras{dir: dir} }

// apply completes a commit that has no change id of its own.
func (x *extras) apply(c *repo.Commit) error {
	if c.ChangeID != repo.SyntheticChangeID(c.ID) {
		return nil
	}
	x.once.Do(func() { x.segs, x.err = loadTable(x.dir) })
	if x.err != nil {
		return x.err
	}
	for _, s := range x.segs {
		value, ok := s.get(string(c.ID))
		if !ok {
			continue
		}
		return applyExtra(c, value)
	}
	return nil
}

func applyExtra(c *repo.Commit, value []byte) error {
	var trees repo.Merge[repo.TreeID]
	for len(value) > 0 {
		num, typ, n := protowire.ConsumeTag(value)
		if n < 0 {
			return fmt.Errorf("extra of commit %s: %w", c.ID.Hex(), protowire.ParseError(n))
		}
		m := protowire.ConsumeFieldValue(num, typ, value[n:])
		if m < 0 {
			return fmt.Errorf("extra of commit %s: %w", c.ID.Hex(), protowire.ParseError(m))
		}
		if typ == protowire.BytesType {
			b, _ := protowire.ConsumeBytes(value[n:])
			switch num {
			case 1:
				trees = append(trees, repo.TreeID(b))
			case 4:
				if len(b) == repo.ChangeIDLen {
					c.ChangeID = repo.ChangeID(b)
				}
			}
		}
		value = value[n+m:]
	}
	if len(trees) > 1 && len(trees)%2 == 1 && c.Tree.IDs.IsResolved() {
		c.Tree.IDs = trees
	}
	return nil
}

// loadTable reads all segments that heads lead to, children before parents.
func loadTable(dir string) ([]tableSegment, error) {
	heads, err := os.ReadDir(filepath.Join(dir, "heads"))
	if err != nil {
		if os.IsNotExist(err) {
			return nil, nil
		}
		return nil, err
	}
	var segs []tableSegment
	seen := map[string]bool{}
	for _, h := range heads {
		for name := h.Name(); name != "" && !seen[name]; {
			seen[name] = true
			if _, ok := repo.ParseViewID(name); !ok { // 128 digits, as views have
				return nil, fmt.Errorf("table segment named %q", name)
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			s, err := parseTableSegment(data)
			if err != nil {
				return nil, fmt.Errorf("table segment %s: %w", name, err)
			}
			segs = append(segs, s)
			name = s.parent
		}
	}
	return segs, nil
}

func parseTableSegment(data []byte) (s tableSegment, err error) {
	short := fmt.Errorf("cut short")
	u32 := func() (int, bool) {
		if len(data) < 4 {
			return 0, false
		}
		n := binary.LittleEndian.Uint32(data)
		data = data[4:]
		return int(n), n < 1<<31
	}
	n, ok := u32()
	if !ok || n > len(data) {
		return s, short
	}
	s.parent, data = string(data[:n]), data[n:]
	n, ok = u32()
	if !ok || n > len(data)/tableEntry {
		return s, short
	}
	s.index, s.values = data[:n*tableEntry], data[n*tableEntry:]
	return s, nil
}

func (s *tableSegment) get(key string) ([]byte, bool) {
	n := len(s.index) / tableEntry
	at := func(i int) []byte { return s.index[i*tableEntry : (i+1)*tableEntry] }
	i := sort.Search(n, func(i int) bool { return string(at(i)[:tableKey]) >= key })
	if i == n || string(at(i)[:tableKey]) != key {
		return nil, false
	}
	from := int(binary.LittleEndian.Uint32(at(i)[tableKey:]))
	to := len(s.values)
	if i+1 < n {
		to = int(binary.LittleEndian.Uint32(at(i + 1)[tableKey:]))
	}
	if from > to || to > len(s.values) {
		return nil, false
	}
	return s.values[from:to], true
}
