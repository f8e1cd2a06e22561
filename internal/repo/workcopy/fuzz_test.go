package workcopy

import (
	"reflect"
	"testing"

	"tandem/internal/repo"
)

func FuzzTreeState(f *testing.F) {
	s := newTreeState()
	s.files = []FileState{{Path: "a/b", Mtime: 1, Size: 2, Type: Executable, MarkerLen: 7}, {Path: "a.c", Type: Symlink}}
	f.Add(string(s.encode()))
	f.Add(string(checkout{repo.RootOperationID, "w"}.encode()))
	f.Fuzz(func(t *testing.T, data string) {
		decodeCheckout(data)
		s, err := decodeTreeState(data)
		if err != nil {
			return
		}
		again, err := decodeTreeState(string(s.encode()))
		if err != nil {
			t.Fatalf("cannot read back: %v", err)
		}
		if !reflect.DeepEqual(again, s) {
			t.Fatalf("read back as another:\n%+v\n%+v", again, s)
		}
	})
}

func FuzzIgnore(f *testing.F) {
	f.Add("*a*b*c*d*e*f\n!/x/**/y/\n[a-", "aaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, rules, path string) {
		if len(rules) > 1000 || len(path) > 1000 {
			return
		}
		var g *Ignores
		g.With("", []byte(rules)).Match(repo.Path(path), true)
	})
}
