package daemon

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/checkout"
)

// A row in the table of checkouts lent sessions any folder beside a granted repository whose name began like it. And an agent made
// checkouts of a folder in which its every change asks.
func TestACheckoutIsLentByItsMakerAlone(t *testing.T) {
	w := newWard(t, "")
	app := filepath.Join(t.TempDir(), "app")
	secrets := app + "-secrets"
	for _, dir := range []string{app, secrets} {
		w.must(os.Mkdir(dir, 0o700))
	}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty",
		"-m", "first"}} {
		cmd := exec.Command("git", append([]string{"-C", app}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	w.present("folder.grant", map[string]any{"path": app}, nil)

	// An agent may not change the folder without an approval, and gets no checkout of it without one.
	mint(t, w.Daemon, op.Agent, "bob")
	bob, err := w.identity.Caller(t.Context(), "local", "bob", op.DoorHTTP)
	w.must(err)
	in := session.CheckoutIn{Directory: app, Name: "fix", Kind: checkout.Worktree}
	if _, err := w.gate.Invoke(op.WithCaller(t.Context(), bob), "session.checkout", in); !fault.Is(err, fault.Pending) {
		t.Errorf("an agent's checkout: %v", err)
	}

	var made session.Checkout
	w.must(w.Call(t.Context(), "session.checkout", in, &made))
	lent := func(dir string) bool { // a checkout is made of what is granted for changes alone
		again := session.CheckoutIn{Directory: dir, Name: "again", Kind: "neither"} // nothing is started
		err := w.Call(t.Context(), "session.checkout", again, nil)
		if err == nil {
			t.Fatalf("%s has another kind of checkout", dir)
		}
		return !fault.Is(err, fault.Denied)
	}
	if !lent(made.Folder) {
		t.Error("a checkout is not lent")
	}
	var works struct{ ID string }
	w.must(w.Call(t.Context(), "session.create", map[string]any{"title": "apart", "directory": made.Folder}, &works))
	forged := session.Checkout{Kind: checkout.Worktree, Repo: app, Path: secrets, Folder: secrets, Name: "secrets"}
	body, err := json.Marshal(forged)
	w.must(err)
	w.sql("INSERT INTO session_checkout (tenant, path, repo, body, made_by, created_at) VALUES ('local', '" + secrets + "', '" + app + "', '" +
		string(body) + "', 'owner', 1)")
	if lent(secrets) {
		t.Error("a row lends a folder that nobody granted")
	}
	w.told("the checkout " + secrets)
	w.again("DELETE FROM session_checkout WHERE path = '" + secrets + "'")
	if said := w.finds(); said != "" {
		t.Errorf("after a start: %s", said)
	}
	if !lent(made.Folder) {
		t.Error("the journal's word about a checkout did not outlive a start")
	}

	// Another session works there by now, as whoever took a job over does: the one before it took its files away.
	var next struct{ ID string }
	w.must(w.Call(t.Context(), "session.create", map[string]any{"title": "next", "directory": made.Folder}, &next))
	live := w.rooms.session.Live
	w.rooms.session.Live = func(id string) bool { return id == next.ID }
	for _, end := range []string{"session.keep", "session.discard"} {
		w.refused(end+" where another one works", w.Call(t.Context(), end, map[string]any{"id": works.ID}, nil), fault.Conflict)
	}
	w.rooms.session.Live = live
	w.must(w.Call(t.Context(), "session.discard", map[string]any{"id": works.ID}, nil))
	if said := w.finds(); said != "" {
		t.Errorf("after it was discarded: %s", said)
	}
}
