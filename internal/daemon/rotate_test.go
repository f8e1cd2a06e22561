package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/journal"
)

func (w *ward) file(name string) string { return filepath.Join(w.home, ".tandem", name) }

func (w *ward) read(name string) []byte {
	w.t.Helper()
	data, err := os.ReadFile(w.file(name))
	w.must(err)
	return data
}

func (w *ward) write(name string, data []byte) {
	w.t.Helper()
	w.must(os.WriteFile(w.file(name), data, 0o600))
}

// sound fails when audit verify finds anything.
func (w *ward) sound(when string) {
	w.t.Helper()
	if said := w.finds(); said != "" {
		w.t.Errorf("%s, verify says:\n%s", when, said)
	}
}

// There was no way to replace the journal's key. The old one goes on verifying what it signed, and whoever has it can write nothing.
func TestTheJournalsKeyIsReplacedWhileItRuns(t *testing.T) {
	wards(t, func(w *ward) {
		var token struct{ Secret, ID string }
		w.present("actor.add", map[string]any{"name": "builder", "kind": "agent"}, nil)
		w.present("token.new", map[string]any{"actor": "builder"}, &token)
		anchor, err := w.journal.Anchor(t.Context())
		w.must(err)
		attested := w.journal.Attest("a test", []byte("text"))
		if err := w.Call(t.Context(), "server.rotate", map[string]any{"key": "journal"}, nil); !fault.Is(err, fault.Denied) {
			t.Errorf("without a person: %v", err)
		}
		old := w.read("journal.key")
		for range 2 {
			w.present("server.rotate", map[string]any{"key": "journal"}, nil)
			w.sound("after a rotation")
		}
		if string(w.read("journal.key")) == string(old) {
			t.Fatal("the key is the old one")
		}
		w.must(w.bearer(token.Secret))
		w.present("token.revoke", map[string]any{"id": token.ID}, nil)
		for _, when := range []string{"live", "after a restart"} {
			r, err := w.journal.Verify(t.Context(), []string{anchor.Checkpoint})
			w.must(err)
			if len(r.Findings) > 0 || r.Anchored != anchor.Size {
				t.Errorf("%s an anchor from before: anchored %d, %+v", when, r.Anchored, r.Findings)
			}
			if !w.journal.Attested("a test", []byte("text"), attested) {
				t.Errorf("%s what the old key signed does not count", when)
			}
			if w.bearer(token.Secret) == nil {
				t.Errorf("%s a revoked token works", when)
			}
			w.again()
		}
		// A key that somebody writes into the database is nobody's.
		w.sql("INSERT INTO journal_key (public, to_size, since) VALUES ('AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 1000, 0)")
		w.told("no entry of the journal vouches for it")
	})
}

// A crash at any step leaves a house that starts, with the one key or with the other.
func TestARotationThatIsCutOffIsFinished(t *testing.T) {
	w := newWard(t, "")
	// Cut off before the database knew the new key: it never happened.
	w.end()
	w.write("journal.key.next", []byte("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"))
	w.write("journal.seals.next", []byte("1 00\n"))
	w.start()
	w.sound("after a rotation that never happened")
	for _, name := range []string{"journal.key.next", "journal.seals.next"} {
		if _, err := os.Stat(w.file(name)); !os.IsNotExist(err) {
			t.Errorf("%s was left behind: %v", name, err)
		}
	}
	// Cut off after the database knew it, before either file was in its place, and between the two.
	for _, step := range []string{"neither file", "the seals alone"} {
		oldKey, oldSeals := w.read("journal.key"), w.read("journal.seals")
		w.present("server.rotate", map[string]any{"key": "journal"}, nil)
		w.end()
		newKey, newSeals := w.read("journal.key"), w.read("journal.seals")
		w.write("journal.key", oldKey)
		w.write("journal.key.next", newKey)
		if step == "neither file" {
			w.write("journal.seals", oldSeals)
			w.write("journal.seals.next", newSeals)
		}
		w.start()
		w.sound("cut off with " + step + " in place")
		if string(w.read("journal.key")) != string(newKey) {
			t.Errorf("%s: the key is not the new one", step)
		}
		if n := w.journal.Waiting(); n != 0 {
			t.Errorf("%s: %d rows wait to be confirmed", step, n)
		}
	}
	w.present("resource.put", map[string]any{"key": "a", "value": 1}, nil)
	// A key that is lost after a rotation is given up like any other.
	w.end()
	w.must(os.Remove(w.file("journal.key")))
	if _, err := os.Stat(journal.NextFile(w.file("journal.key"))); !os.IsNotExist(err) {
		t.Error("a key waits")
	}
}

func TestDefaultTokensHaveNewValues(t *testing.T) {
	w := newWard(t, "")
	show := func() string {
		var out struct{ Value string }
		w.present("secret.unmask", map[string]any{"name": "token/api"}, &out)
		return out.Value
	}
	old := show()
	w.must(w.bearer(old))
	w.present("server.rotate", map[string]any{"key": "tokens"}, nil)
	if w.bearer(old) == nil {
		t.Error("the old token works")
	}
	w.must(w.bearer(show()))
	w.again()
	w.must(w.bearer(show()))
	w.sound("after new tokens")
	if err := w.WithPIN("246813").Call(t.Context(), "server.rotate", map[string]any{"key": "house"}, nil); !fault.Is(err, fault.Invalid) ||
		!strings.Contains(err.Error(), "house") {
		t.Errorf("an unknown key: %v", err)
	}
	w.present("server.rotate", map[string]any{"key": "secret"}, nil)
	w.must(w.bearer(show()))
}

func TestATLSKeyThatIsCutOffIsFinished(t *testing.T) {
	w := newWard(t, "")
	if err := w.WithPIN("246813").Call(t.Context(), "server.rotate", map[string]any{"key": "tls"}, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("without a TLS key: %v", err)
	}
	w.must(makeCertificate(w.file("tls-cert.pem"), w.file("tls-key.pem"), "127.0.0.1"))
	w.again() // it is known from now on
	for _, placed := range [][]string{nil, {tlsMoves}, {tlsMoves, "tls-cert.pem"}} {
		before := map[string][]byte{}
		for _, name := range tlsFiles[1:] {
			before[name] = w.read(name)
		}
		w.present("server.rotate", map[string]any{"key": "tls"}, nil)
		w.end()
		key := w.read("tls-key.pem")
		for _, name := range tlsFiles {
			if !slices.Contains(placed, name) {
				w.must(os.Rename(w.file(name), journal.NextFile(w.file(name))))
				if before[name] != nil {
					w.write(name, before[name])
				}
			}
		}
		w.start()
		if string(w.read("tls-key.pem")) != string(key) {
			t.Errorf("with %v in place the key is not the new one", placed)
		}
	}
	var out client.MovesOut
	w.must(w.Call(t.Context(), "server.tls_moves", nil, &out))
	if len(out.Moves) != 3 || !client.Leads(out.Moves, out.Moves[0].Old, out.Moves[2].New) {
		t.Errorf("%d moves that do not lead to the present key", len(out.Moves))
	}
	w.end()
	w.write("tls-key.pem.next", []byte("never known\n"))
	w.start()
	if _, err := os.Stat(w.file("tls-key.pem.next")); !os.IsNotExist(err) {
		t.Errorf("what never happened was left behind: %v", err)
	}
	w.sound("after TLS keys were replaced")
}
