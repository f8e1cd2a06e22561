package exchange

import (
	"bytes"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/stocktest"
)

func open(t testing.TB, dir string) *gitstore.Store {
	t.Helper()
	s, err := gitstore.Open(dir + "/.jj/repo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// wire is a whole exchange from a repository with most of what there is.
func wire(t testing.TB) ([]byte, repo.OperationID) {
	j := stocktest.New(t)
	s := open(t, j.History(false))
	heads, err := s.Heads()
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Delta(t.Context(), nil, heads)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := NewWriter(&b)
	if err := w.JSON(Head, Question{Workspace: "w", Heads: Hex(heads)}); err != nil {
		t.Fatal(err)
	}
	if err := Send(t.Context(), w, s, d, 0); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), heads[0]
}

func take(t testing.TB, data []byte) (*gitstore.Store, error) {
	t.Helper()
	s, err := gitstore.Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	in := s.Receive(gitstore.Limits{Objects: 10000, Bytes: 16 << 20, Total: 16 << 20, Named: 1 << 20})
	defer in.Close()
	r := NewReader(bytes.NewReader(data))
	var q Question
	if err := r.Head(&q); err != nil {
		return s, err
	}
	if err := Take(t.Context(), r, in); err != nil {
		return s, err
	}
	return s, in.Accept(t.Context())
}

func TestARepositoryTravelsWhole(t *testing.T) {
	data, head := wire(t)
	s, err := take(t, data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.At(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.View.Workspaces) != 2 || len(r.View.Bookmarks) == 0 {
		t.Fatalf("arrived with %d workspaces and %d bookmarks", len(r.View.Workspaces), len(r.View.Bookmarks))
	}
}

// Whatever is cut off or turned round on the way is refused, and leaves nothing.
func TestDamageIsRefused(t *testing.T) {
	data, head := wire(t)
	step := max(1, len(data)/23)
	for n := 0; n < len(data); n += step {
		s, err := take(t, data[:n])
		if err == nil || s.HasOperation(head) {
			t.Fatalf("%d of %d bytes were taken for whole", n, len(data))
		}
		flipped := bytes.Clone(data)
		flipped[n] ^= 0x40
		if s, err := take(t, flipped); err == nil && !s.HasOperation(head) {
			t.Fatalf("a flipped bit at %d was accepted and the head lost", n)
		}
	}
}

func TestFaultsTravel(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	if err := w.Fail(fault.New(fault.Conflict, "x", "held by somebody").WithNext("wait")); err != nil {
		t.Fatal(err)
	}
	_, _, err := NewReader(&b).Next()
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "held by somebody") {
		t.Fatalf("got %v", err)
	}
}

// FuzzTake takes whatever comes. What passes the checks is whole: the repository
// can be read with it.
func FuzzTake(f *testing.F) {
	data, _ := wire(f)
	f.Add(data)
	f.Add([]byte("h\x00\x00\x00\x02{}e\x00\x00\x00\x00"))
	f.Add([]byte("h\x00\x00\x00\x02{}k\xff\xff\xff\xff"))
	s, err := gitstore.Init(f.TempDir(), "")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		var q Question
		if r.Head(&q) != nil {
			return
		}
		in := s.Receive(gitstore.Limits{Objects: 1000, Bytes: 1 << 20, Total: 1 << 20, Named: 1 << 20})
		defer in.Close()
		if Take(t.Context(), r, in) != nil {
			return
		}
		for _, o := range in.Operations() {
			if _, err := in.At(t.Context(), o.ID); err != nil {
				t.Errorf("operation %.12s was taken and cannot be read: %v", o.ID.Hex(), err)
			}
		}
	})
}
