package workcopy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"tandem/internal/repo"
)

// FileType is what a tracked path was on disk when it was last looked at, with
// jj's number for it.
type FileType uint8

// The types of tracked file.
const (
	Normal     FileType = 0
	Symlink    FileType = 1
	Executable FileType = 2
	Submodule  FileType = 4
)

// FileState is what was last seen of a tracked file. While type, time and size
// are the same, the content is taken to be.
type FileState struct {
	Path  repo.Path
	Mtime int64 // milliseconds since 1970; 0 means "look again"
	Size  uint64
	Type  FileType
	// MarkerLen is the length of the conflict markers that were written into
	// the file, 0 when it showed no conflict.
	MarkerLen uint32
}

func (f FileState) sameOnDisk(o FileState) bool {
	return f.Mtime == o.Mtime && f.Size == o.Size && f.Type == o.Type
}

// treeState is the file tree_state: the tree the files were last made equal to
// and what was seen of them.
type treeState struct {
	tree   repo.MergedTree
	files  []FileState // in order of path, by component
	sparse []repo.Path // prefixes; "" is everything
	clock  string      // a file watcher's own, kept as it came
	mtime  int64       // of the file itself, milliseconds
}

func newTreeState() *treeState {
	return &treeState{tree: repo.EmptyTree(), sparse: []repo.Path{""}}
}

func readTreeState(path string) (*treeState, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newTreeState(), nil
	}
	if err != nil {
		return nil, err
	}
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	t, err := decodeTreeState(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.mtime = st.ModTime().UnixMilli()
	return t, nil
}

// protoFields walks the fields of a protobuf message held in a string, of
// which values are slices.
func protoFields(s string, handle func(num protowire.Number, v string, n uint64) error) error {
	b := []byte(s)
	for at := 0; at < len(b); {
		num, typ, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			return protowire.ParseError(n)
		}
		at += n
		m := protowire.ConsumeFieldValue(num, typ, b[at:])
		if m < 0 {
			return protowire.ParseError(m)
		}
		var err error
		switch typ {
		case protowire.BytesType:
			_, k := protowire.ConsumeVarint(b[at:])
			err = handle(num, s[at+k:at+m], 0)
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(b[at:])
			err = handle(num, "", v)
		}
		if err != nil {
			return err
		}
		at += m
	}
	return nil
}

func decodeTreeState(data string) (*treeState, error) {
	t := &treeState{}
	var labels []string
	legacy := ""
	sorted := uint64(0)
	err := protoFields(data, func(num protowire.Number, v string, n uint64) error {
		switch num {
		case 1:
			legacy = v
		case 2:
			f, err := decodeFileEntry(v)
			t.files = append(t.files, f)
			return err
		case 3:
			return protoFields(v, func(num protowire.Number, v string, _ uint64) error {
				if num == 1 {
					t.sparse = append(t.sparse, repo.Path(v))
				}
				return nil
			})
		case 4:
			t.clock = v
		case 5:
			t.tree.IDs = append(t.tree.IDs, repo.TreeID(v))
		case 6:
			sorted = n
		case 7:
			labels = append(labels, v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.tree.IDs) == 0 {
		t.tree.IDs = repo.Resolved(repo.TreeID(legacy))
	}
	if len(t.tree.IDs)%2 == 0 || (len(labels) > 0 && len(labels) != len(t.tree.IDs)) {
		return nil, fmt.Errorf("tree of %d terms with %d labels", len(t.tree.IDs), len(labels))
	}
	t.tree.Labels = repo.MakeLabels(labels)
	byPath := func(a, b FileState) int { return repo.ComparePaths(a.Path, b.Path) }
	if sorted == 0 || !slices.IsSortedFunc(t.files, byPath) {
		slices.SortStableFunc(t.files, byPath)
	}
	return t, nil
}

func decodeFileEntry(data string) (f FileState, err error) {
	err = protoFields(data, func(num protowire.Number, v string, _ uint64) error {
		switch num {
		case 1:
			f.Path = repo.Path(v)
		case 2:
			return protoFields(v, func(num protowire.Number, v string, n uint64) error {
				switch num {
				case 1:
					f.Mtime = int64(n)
				case 2:
					f.Size = n
				case 3:
					f.Type = FileType(n)
					if n == 3 { // an old way to mark conflicts
						f.Type = Normal
					}
				case 5:
					return protoFields(v, func(num protowire.Number, _ string, n uint64) error {
						if num == 1 {
							f.MarkerLen = uint32(n)
						}
						return nil
					})
				}
				return nil
			})
		}
		return nil
	})
	return f, err
}

func appendField(b []byte, num protowire.Number, v string) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return protowire.AppendString(b, v)
}

func appendUint(b []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = protowire.AppendTag(b, num, protowire.VarintType)
	return protowire.AppendVarint(b, v)
}

func (t *treeState) encode() []byte {
	b := make([]byte, 0, 64*len(t.files)+256)
	var state, entry []byte
	for _, f := range t.files {
		state = appendUint(state[:0], 1, uint64(f.Mtime))
		state = appendUint(state, 2, f.Size)
		state = appendUint(state, 3, uint64(f.Type))
		if f.MarkerLen > 0 {
			state = appendField(state, 5, string(appendUint(nil, 1, uint64(f.MarkerLen))))
		}
		entry = appendField(entry[:0], 1, string(f.Path))
		entry = appendField(entry, 2, string(state))
		b = appendField(b, 2, string(entry))
	}
	var sparse []byte
	for _, p := range t.sparse {
		sparse = appendField(sparse, 1, string(p))
	}
	b = appendField(b, 3, string(sparse))
	if t.clock != "" {
		b = appendField(b, 4, t.clock)
	}
	for _, id := range t.tree.IDs {
		b = appendField(b, 5, string(id))
	}
	b = appendUint(b, 6, 1)
	for _, l := range t.tree.Labels {
		b = appendField(b, 7, l)
	}
	return b
}

// checkout is the file of that name: where the working copy stands.
type checkout struct {
	op        repo.OperationID
	workspace string
}

func readCheckout(path string) (c checkout, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("read checkout state: %w", err)
	}
	return decodeCheckout(string(data))
}

func decodeCheckout(data string) (c checkout, err error) {
	err = protoFields(data, func(num protowire.Number, v string, _ uint64) error {
		switch num {
		case 2:
			c.op = repo.OperationID(v)
		case 3:
			c.workspace = v
		}
		return nil
	})
	if err == nil && len(c.op) != repo.OperationIDLen {
		err = fmt.Errorf("checkout names an operation of %d bytes", len(c.op))
	}
	if c.workspace == "" {
		c.workspace = repo.DefaultWorkspace
	}
	return c, err
}

func (c checkout) encode() []byte {
	b := appendField(nil, 2, string(c.op))
	return appendField(b, 3, c.workspace)
}

// replaceFile makes a state file hold data: temporary, synced, renamed.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
