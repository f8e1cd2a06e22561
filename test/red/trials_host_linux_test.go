package red

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/internal/approval"
	"tandem/internal/board"
	"tandem/internal/db"
	"tandem/internal/gate"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/space"
	"tandem/internal/space/peer"
	"tandem/internal/space/seal"
	"tandem/internal/testenv"
)

// lie is what a host makes of the entries that it owes a member. It may be told the hash before them, and what another space holds.
type lie func(h *liar, prev string, entries []*space.Entry) []*space.Entry

// liar is a host that tells one of two members something else than what the other said.
type liar struct {
	s     *stage
	gate  *gate.Gate
	space string
	mu    sync.Mutex
	ann   seal.MemberID    // who is told the truth
	hash  map[int64]string // of every entry
	tell  lie              // nil is the truth
	hold  bool             // the member is told that there is nothing new
	naive []string         // what somebody would believe who checks nothing
	taken []*space.Entry   // of another space
}

// Invoke passes a call on, and lies about what is pulled.
func (h *liar) Invoke(ctx context.Context, name string, in any) (any, error) {
	out, err := h.gate.Invoke(ctx, name, in)
	pull, asked := in.(space.PullIn)
	got, told := out.(space.PullOut)
	if err != nil || !asked || !told {
		return out, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ann == "" {
		h.ann = pull.Proof.Member
	}
	for _, e := range got.Entries {
		h.hash[e.Seq] = e.Hash
	}
	if pull.Proof.Member == h.ann {
		return got, nil
	}
	if h.hold {
		got.Entries, got.Seq = nil, pull.Since
		select { // the member asks again at once
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	if h.tell != nil && len(got.Entries) > 0 {
		var copied []*space.Entry
		if data, err := json.Marshal(got.Entries); err != nil || json.Unmarshal(data, &copied) != nil {
			return nil, err
		}
		got.Entries = h.tell(h, h.hash[pull.Since], copied)
		got.Seq = pull.Since + int64(len(got.Entries))
		h.naive = believed(got.Entries)
	}
	return got, nil
}

// believed is what a reader takes for said who looks at nothing but the words.
func believed(entries []*space.Entry) (out []string) {
	for _, e := range entries {
		if e.Env != nil {
			out = append(out, fmt.Sprint(e.Env.From, e.Env.To, e.Env.ID, e.Env.Box, e.Env.Clear, e.Env.At))
		}
	}
	return out
}

// host seats ann and bob with a host that will lie to bob.
func (s *stage) host() *liar {
	s.Helper()
	dir, ctx := s.TempDir(), context.Background()
	d := must[*db.DB](s)(db.Open(ctx, filepath.Join(dir, "tandem.db"), nil))
	if _, err := d.Migrate(ctx, journal.Migrations, identity.Migrations, approval.Migrations, gate.Migrations, space.Migrations,
		board.Migrations, peer.Migrations); err != nil {
		s.Fatal(err)
	}
	must[*identity.Room](s)(identity.New(ctx, d))
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	h := &liar{s: s, hash: map[int64]string{}}
	spaces := space.New(d, h)
	peers := peer.New(ctx, peer.Config{DB: d, Invoke: h, Key: must[[]byte](s)(peer.Key(filepath.Join(dir, "space.key"))), Log: log})
	var table op.Table
	for _, ops := range [][]op.Op{spaces.Ops(), board.New(d, spaces).Ops(), peers.Ops()} {
		if err := table.Add(ops...); err != nil {
			s.Fatal(err)
		}
	}
	compiled := must[*policy.Compiled](s)(policy.Compile(policy.Source{Tenant: identity.LocalTenant, Grants: policy.DefaultGrants()}))
	h.gate = gate.New(&table, d, journal.New(d, must[ed25519.PrivateKey](s)(journal.Key(filepath.Join(dir, "journal.key")))),
		func(context.Context, string) (*policy.Compiled, error) { return compiled, nil }, approval.New(d, approval.ByName), gate.Guards{
			Still:   func(context.Context, op.Caller) error { return nil },
			Caution: func(context.Context, op.Caller, *op.Op, any) (string, error) { return "", nil }, Kin: policy.NoKin,
			Past: func(string) bool { return false }}, log)
	if err := peers.Start(ctx); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { peers.Stop(); d.Close() })
	made := h.does("ann", "space.create", peer.CreateIn{Name: "red"}).(peer.Created)
	h.space = made.Space
	h.does("bob", "space.join", peer.JoinIn{Code: made.Code})
	return h
}

// does runs an operation as a member that must succeed.
func (h *liar) does(who, name string, in any) any {
	h.s.Helper()
	out, err := h.asks(who, name, in)
	if err != nil {
		h.s.Fatalf("%s %s: %v", who, name, err)
	}
	return out
}

func (h *liar) asks(who, name string, in any) (any, error) {
	return h.gate.Invoke(op.WithCaller(h.s.Context(), op.Caller{Tenant: identity.LocalTenant, Actor: "act_" + who, Name: who, Kind: op.Agent,
		Door: op.DoorSocket, Request: "req", Client: op.Client{Folder: h.s.TempDir()}}), name, in)
}

var spoken = []string{"hello", "one", "two", "three"}

// tells lets ann say three things while bob is told of none, and then lets the host tell him what it likes. It worked when bob takes part
// as before and believes something else than what ann said.
func tells(name string, l lie) trial {
	return trial{"host", name, func(s *stage) (bool, bool) {
		h := s.host()
		h.does("ann", "space.send", peer.SendIn{Type: "chat", Message: "hello"})
		testenv.Eventually(s, "bob hears ann from a host that tells the truth", 10*time.Second, func() bool {
			return slices.Equal(texts(h.does("bob", "space.inbox", peer.InboxIn{All: true})), spoken[:1])
		})
		h.set(func() { h.hold = true })
		if strings.Contains(name, "another space") {
			o := s.host()
			o.does("ann", "space.send", peer.SendIn{Type: "chat", Message: "elsewhere"})
			system := op.Caller{Tenant: identity.LocalTenant, Actor: identity.WellKnown(identity.System), Name: identity.System, Kind: op.Service,
				Door: op.DoorInside, Request: "r"}
			pull := space.PullIn{Space: o.space, Proof: space.Proof{Member: o.ann}}
			out, err := o.gate.Invoke(op.WithCaller(s.Context(), system), "space.pull", pull)
			h.taken = must[any](s)(out, err).(space.PullOut).Entries
		}
		for _, text := range spoken[1:] {
			h.does("ann", "space.send", peer.SendIn{Type: "chat", Message: text})
		}
		var honest []string
		h.set(func() {
			h.hold, h.tell = false, func(h *liar, prev string, entries []*space.Entry) []*space.Entry {
				if len(entries) < len(spoken)-1 {
					return entries
				}
				honest = believed(entries)
				return l(h, prev, entries)
			}
		})
		var box any
		var err error
		testenv.Within(10*time.Second, func() bool {
			if box, err = h.asks("bob", "space.inbox", peer.InboxIn{All: true}); err != nil || h.told() && len(texts(box)) > 1 {
				return true
			}
			_, failed := h.asks("bob", "space.peers", nil)
			return failed != nil || h.told() && stopped(h)
		})
		opened := h.told() && !slices.Equal(h.naive, honest)
		return opened, err == nil && !stopped(h) && !slices.Equal(texts(box), spoken)
	}}
}

func (h *liar) set(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *liar) told() (yes bool) {
	h.set(func() { yes = h.naive != nil })
	return yes
}

// stopped reports whether bob's seat takes nothing more from this host.
func stopped(h *liar) bool {
	_, err := h.asks("bob", "space.send", peer.SendIn{Type: "chat", Message: "I am still here"})
	return err != nil
}

func texts(box any) (out []string) {
	if in, ok := box.(peer.Inbox); ok {
		for _, m := range in.Messages {
			out = append(out, m.Text)
		}
	}
	return out
}

// chained numbers and chains entries anew, as a host can.
func chained(prev string, entries []*space.Entry) []*space.Entry {
	first := entries[0].Seq
	for _, e := range entries[1:] {
		first = min(first, e.Seq)
	}
	for i, e := range entries {
		e.Seq = first + int64(i)
		e.Hash = e.Chain(prev)
		prev = e.Hash
	}
	return entries
}

// changes is a lie about the first thing that was said.
func changes(f func(e *space.Entry)) lie {
	return func(_ *liar, prev string, entries []*space.Entry) []*space.Entry {
		f(entries[0])
		return chained(prev, entries)
	}
}

var hostTrials = []trial{
	tells("one of three is left out", func(_ *liar, _ string, e []*space.Entry) []*space.Entry { return slices.Delete(e, 1, 2) }),
	tells("one of three is left out, and the rest chained anew", func(_ *liar, prev string, e []*space.Entry) []*space.Entry {
		return chained(prev, slices.Delete(e, 0, 1))
	}),
	tells("in another order", func(_ *liar, prev string, e []*space.Entry) []*space.Entry {
		first := e[0].Seq
		e[0], e[1] = e[1], e[0]
		e[0].Seq, e[1].Seq = first, first+1
		return chained(prev, e)
	}),
	tells("twice", func(_ *liar, prev string, e []*space.Entry) []*space.Entry {
		again := *e[0]
		return chained(prev, slices.Insert(e, 1, &again))
	}),
	tells("in another's name", changes(func(e *space.Entry) { e.Env.From = e.Env.From[:len(e.Env.From)-1] + "a" })),
	tells("with other words", changes(func(e *space.Entry) { e.Env.Box[len(e.Env.Box)/2] ^= 1 })),
	tells("for one alone", changes(func(e *space.Entry) { e.Env.To = e.Env.From })),
	tells("at another time", changes(func(e *space.Entry) { e.Env.At -= 3_600_000 })),
	tells("with another clear part", changes(func(e *space.Entry) { e.Env.Clear = []byte(`{"urgent":true}`) })),
	tells("what was said in another space", func(h *liar, prev string, e []*space.Entry) []*space.Entry {
		last := *h.taken[len(h.taken)-1]
		last.Seq, last.Term = e[0].Seq, e[0].Term
		return chained(prev, append([]*space.Entry{&last}, e[1:]...))
	}),
	tells("by a stranger", func(h *liar, prev string, e []*space.Entry) []*space.Entry {
		me := must[*seal.Identity](h.s)(seal.NewIdentity())
		g := must[*seal.Group](h.s)(seal.NewGroup(me, e[0].Env.Space))
		k := must[seal.EpochKey](h.s)(g.EpochKey())
		k.Epoch = e[0].Env.Epoch
		said := seal.Envelope{Space: e[0].Env.Space, Seq: 1, ID: "m_stranger", Class: "message", At: 1}
		env := must[seal.Envelope](h.s)(k.Seal(me, nil, said, []byte("x")))
		e[0].Env = &env
		return chained(prev, e)
	}),
	tells("as of a later term that nobody began", func(_ *liar, prev string, e []*space.Entry) []*space.Entry {
		for _, x := range e {
			x.Term++
			x.Env.ID += "x"
		}
		return chained(prev, e)
	}),
	tells("filed as something else", changes(func(e *space.Entry) { e.Class = space.ClassVar; e.Env.ID += "x" })),
}
