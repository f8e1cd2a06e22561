package gitstore

import (
	"bytes"
	"slices"
	"testing"

	"tandem/internal/repo"
)

func FuzzLoose(f *testing.F) {
	f.Add(encodeLoose(repo.Object{Type: repo.BlobObject, Data: []byte("hello")}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o, err := decodeLoose(bytes.NewReader(data)); err == nil && o.Type == 0 {
			t.Fatal("an object of no type")
		}
	})
}

func FuzzPackIndex(f *testing.F) {
	f.Add(encodePackIndex([]packed{{id: string(repo.EmptyTreeID), offset: 12}}, make([]byte, 20)))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := parsePackIndex(data)
		if err != nil {
			return
		}
		for i := range min(x.count, 100) {
			x.find(string(x.id(i)))
		}
		x.find(string(repo.EmptyTreeID))
	})
}

func FuzzPack(f *testing.F) {
	var b bytes.Buffer
	w, _ := NewPackWriter(&b, 1)
	w.Add("x", repo.Object{Type: repo.BlobObject, Data: []byte("hello")})
	w.Close()
	f.Add(b.Bytes())
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\x65\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for at := int64(12); at < int64(min(len(data), 64)); at++ {
			readEntry(data, at)
			p := &pack{data: data, lookup: func(string) (int64, bool) { return at, true }}
			p.read(at, newCache[baseKey, repo.Object](1<<16), func(string) (repo.Object, error) { return repo.Object{}, nil })
			p.typeAt(at, func(string) (repo.ObjectType, error) { return 0, nil })
		}
	})
}

func FuzzDelta(f *testing.F) {
	f.Add([]byte("base"), []byte("\x04\x05\x90\x04\x01x"))
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		if out, err := applyDelta(base, delta); err == nil && len(out) > len(delta)*len(base)+len(delta)+0x10000*len(delta) {
			t.Fatal("a delta grew out of bounds")
		}
	})
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseTableSegment(data)
		if err != nil {
			return
		}
		for i := 0; i+tableEntry <= len(s.index); i += tableEntry {
			if v, ok := s.get(string(s.index[i : i+tableKey])); ok {
				c := &repo.Commit{ID: repo.RootCommitID, Tree: repo.EmptyTree()}
				applyExtra(c, v)
			}
		}
	})
}

func FuzzRefs(f *testing.F) {
	f.Add([]byte("# pack-refs\n4b825dc642cb6eb9a060e54bf8d69288fbee4904 refs/heads/a\n^4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsePackedRefs(data)
		parseRef(string(data))
		parseIndexLink(data)
	})
}

func FuzzWorkspaces(f *testing.F) {
	f.Add([]byte("\x0a\x0f\x0a\x07default\x12\x04../."))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := decodeWorkspaces(data)
		if err != nil {
			return
		}
		again, err := decodeWorkspaces(encodeWorkspaces(list))
		if err != nil || !slices.Equal(list, again) {
			t.Fatalf("read back as another: %v, %v, %v", list, again, err)
		}
	})
}
