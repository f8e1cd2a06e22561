package repo

import (
	"cmp"
	"crypto/sha1"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"
)

// ObjectType is git's type of object, with git's number for it.
type ObjectType uint8

// The types of git object.
const (
	CommitObject ObjectType = 1
	TreeObject   ObjectType = 2
	BlobObject   ObjectType = 3
	TagObject    ObjectType = 4
)

// String is git's name of the type.
func (t ObjectType) String() string {
	switch t {
	case CommitObject:
		return "commit"
	case TreeObject:
		return "tree"
	case BlobObject:
		return "blob"
	case TagObject:
		return "tag"
	}
	return "unknown"
}

// HashObject is the raw id of an object.
func HashObject(t ObjectType, data []byte) string {
	h := NewObjectHash(t, len(data))
	h.Write(data)
	return string(h.Sum(nil))
}

// NewObjectHash is what sums up to the id of an object when its bytes, of that
// number, are written to it.
func NewObjectHash(t ObjectType, size int) hash.Hash {
	h := sha1.New()
	head := append(make([]byte, 0, 32), t.String()...)
	head = append(head, ' ')
	head = strconv.AppendInt(head, int64(size), 10)
	h.Write(append(head, 0))
	return h
}

var modes = [...]string{
	File:       "100644",
	Executable: "100755",
	Symlink:    "120000",
	Subtree:    "40000",
	Submodule:  "160000",
}

// EncodeTree is the tree as git stores it.
func EncodeTree(t Tree) []byte {
	// Git orders a directory as if its name ended in a slash.
	key := func(e Entry) string {
		if e.Value.Kind == Subtree {
			return e.Name + "/"
		}
		return e.Name
	}
	sorted := slices.Clone(t)
	slices.SortFunc(sorted, func(a, b Entry) int {
		if a.Value.Kind != Subtree && b.Value.Kind != Subtree {
			return cmp.Compare(a.Name, b.Name)
		}
		return cmp.Compare(key(a), key(b))
	})
	var b []byte
	for _, e := range sorted {
		b = append(b, modes[e.Value.Kind]...)
		b = append(b, ' ')
		b = append(b, e.Name...)
		b = append(b, 0)
		b = append(b, e.Value.ID...)
	}
	return b
}

// DecodeTree reads a tree as git stores it.
func DecodeTree(data []byte) (Tree, error) {
	t := make(Tree, 0, len(data)/32)
	text := string(data) // once: names and ids are parts of it
	for len(text) > 0 {
		mode, rest, ok := strings.Cut(text, " ")
		name, rest, ok2 := strings.Cut(rest, "\x00")
		if !ok || !ok2 || len(rest) < CommitIDLen || name == "" {
			return nil, fmt.Errorf("tree is cut short")
		}
		kind, err := kindOfMode(mode)
		if err != nil {
			return nil, err
		}
		t = append(t, Entry{name, TreeValue{kind, rest[:CommitIDLen]}})
		text = rest[CommitIDLen:]
	}
	SortTree(t)
	for i := 1; i < len(t); i++ {
		if t[i].Name == t[i-1].Name {
			return nil, fmt.Errorf("tree names %q twice", t[i].Name)
		}
	}
	return t, nil
}

// kindOfMode reads git's octal mode. Old writers left odd permission bits, so
// only the type and the owner's x bit count.
func kindOfMode(mode string) (Kind, error) {
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil {
		return Absent, fmt.Errorf("tree entry of mode %q", mode)
	}
	switch n & 0o170000 {
	case 0o040000:
		return Subtree, nil
	case 0o120000:
		return Symlink, nil
	case 0o160000:
		return Submodule, nil
	case 0o100000:
		if n&0o100 != 0 {
			return Executable, nil
		}
		return File, nil
	}
	return Absent, fmt.Errorf("tree entry of mode %q", mode)
}
