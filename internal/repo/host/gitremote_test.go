package host

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/repo"
)

// ownHome gives git a home of its own, and runs it.
func ownHome(t *testing.T) (home string, git func(args ...string) string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return home, func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
}

// serve serves a git repository that has a commit on main.
func serve(t *testing.T, git func(args ...string) string) (*Host, *served, context.Context) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "project")
	git("init", "--quiet", "--initial-branch=main", root)
	git("-C", root, "commit", "--quiet", "--allow-empty", "-m", "first")
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), journal.Migrations, Migrations); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(t.Context(), Config{DB: d, Journal: journal.New(d, key), Log: slog.New(slog.DiscardHandler), Paths: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h, h.served[0], op.WithCaller(t.Context(), op.Caller{Tenant: identity.LocalTenant, Actor: "local"})
}

// evilAt makes programs that leave a mark when they run.
func evilAt(t *testing.T, mark string, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"$0 $*\" >> '"+mark+"'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// next is what an error says a person can do.
func next(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	return f.Next
}

// A remote on this machine may be an agent's: its hooks and settings are not
// obeyed, and it gets what it should.
func TestRemoteOnThisMachineRunsNothing(t *testing.T) {
	home, git := ownHome(t)
	h, s, ctx := serve(t, git)
	for name, prefix := range map[string]string{"path": "", "file": "file://"} {
		t.Run(name, func(t *testing.T) {
			mark, evil := filepath.Join(t.TempDir(), "mark"), filepath.Join(home, "evil")
			remote := filepath.Join(t.TempDir(), "remote.git")
			git("init", "--quiet", "--bare", remote)
			evilAt(t, mark, evil)
			for _, hook := range []string{"pre-receive", "update", "post-receive", "post-update", "reference-transaction"} {
				evilAt(t, mark, filepath.Join(remote, "hooks", hook))
			}
			for _, key := range []string{"core.fsmonitor", "core.alternateRefsCommand", "uploadpack.packObjectsHook"} {
				git("--git-dir", remote, "config", key, evil)
			}
			git("--git-dir", s.store.GitDir(), "remote", "add", name, prefix+remote)
			if out, err := h.gitPush(ctx, GitIn{Repo: s.name, Remote: name}); err != nil {
				t.Fatalf("push: %v, %s", err, out.Said)
			}
			if got, want := git("--git-dir", remote, "rev-parse", "main"), git("--git-dir", s.store.GitDir(), "rev-parse", "main"); got != want {
				t.Errorf("the remote's main is %s, want %s", got, want)
			}
			git("--git-dir", remote, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/theirs",
				git("--git-dir", remote, "commit-tree", "-m", "theirs", "main^{tree}"))
			if _, err := h.gitFetch(ctx, GitIn{Repo: s.name, Remote: name}); err != nil {
				t.Fatalf("fetch: %v", err)
			}
			git("--git-dir", s.store.GitDir(), "rev-parse", "refs/remotes/"+name+"/theirs")
			if said, err := os.ReadFile(mark); err == nil {
				t.Errorf("it ran %s", said)
			}
		})
	}
}

// What is not on this machine stays so, whatever its address becomes meanwhile.
func TestRemotesAddress(t *testing.T) {
	for url, want := range map[string]bool{
		"/srv/x": true, "x": true, "../x:y": true, "file:///srv/x": true,
		"host:x": false, "a@host:/x": false, "ssh://host/x": false, "https://host/x": false, "ext::sh -c x": false,
	} {
		if got := onThisMachine(url); got != want {
			t.Errorf("%s is on this machine: %v", url, got)
		}
	}
	if got := protocols(true); got != "file" {
		t.Errorf("here: %s", got)
	}
	if got := protocols(false); got != "git:http:https:ssh" {
		t.Errorf("elsewhere: %s", got)
	}
	t.Setenv("GIT_ALLOW_PROTOCOL", "https")
	if got := protocols(true); got != "" {
		t.Errorf("here, where the user allows https alone: %s", got)
	}
}

func TestUnknownRemote(t *testing.T) {
	_, git := ownHome(t)
	h, s, ctx := serve(t, git)
	_, pushed := h.gitPush(ctx, GitIn{Repo: s.name})
	_, fetched := h.gitFetch(ctx, GitIn{Repo: s.name, Remote: "../x"})
	for _, err := range []error{pushed, fetched} {
		if fault.KindOf(err) != fault.NotFound || !strings.Contains(next(err), "git remote add") {
			t.Errorf("%v", err)
		}
	}
}

// A remote's cookies are not written where the repository's configuration says.
func TestCookiesAreNotSaved(t *testing.T) {
	home, git := ownHome(t)
	h, s, ctx := serve(t, git)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.SetCookie(w, &http.Cookie{Name: "x", Value: "y", MaxAge: 3600})
		http.NotFound(w, r)
	}))
	defer server.Close()
	victim := filepath.Join(home, "victim")
	if err := os.WriteFile(victim, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := s.store.GitDir()
	git("--git-dir", dir, "remote", "add", "origin", server.URL+"/x")
	git("--git-dir", dir, "config", "http.cookieFile", victim)
	for _, key := range []string{"http.saveCookies", "http." + server.URL + ".saveCookies", "gc.recentObjectsHook"} {
		for _, how := range []string{"set", "included"} {
			if how == "set" {
				git("--git-dir", dir, "config", key, "true")
			} else {
				more := filepath.Join(t.TempDir(), "more")
				git("config", "--file", more, key, "true")
				git("--git-dir", dir, "config", "include.path", more)
			}
			_, pushed := h.gitPush(ctx, GitIn{Repo: s.name})
			_, fetched := h.gitFetch(ctx, GitIn{Repo: s.name})
			for _, err := range []error{pushed, fetched, s.collect(ctx, time.Now())} {
				if fault.KindOf(err) != fault.Conflict || !strings.Contains(next(err), "--unset-all") {
					t.Errorf("%s %s: %v", key, how, err)
				}
			}
			if how == "set" {
				git("--git-dir", dir, "config", "--unset-all", key)
			} else {
				git("--git-dir", dir, "config", "--unset-all", "include.path")
			}
		}
	}
	if data, err := os.ReadFile(victim); err != nil || string(data) != "mine\n" {
		t.Errorf("the file is %q, %v", data, err)
	}
	if asked > 0 {
		t.Errorf("the remote was asked %d times", asked)
	}
	// What the server's user wants for itself is its own affair.
	git("config", "--global", "http.saveCookies", "true")
	if err := s.refuseUnsafe(ctx); err != nil {
		t.Error(err)
	}
}

// Refs that a fetch moved while a push was taken in are imported.
func TestFetchBesideAPush(t *testing.T) {
	_, git := ownHome(t)
	h, s, ctx := serve(t, git)
	move := func(name string) {
		git("--git-dir", s.store.GitDir(), "update-ref", "refs/heads/"+name, "main")
	}
	has := func(name string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		head, _, _ := s.now()
		r, err := s.store.At(ctx, head)
		if err != nil {
			t.Fatal(err)
		}
		return !repo.IsAbsentTarget(r.View.Bookmark(name))
	}
	move("one")
	refs, err := gitSignature(s.store.GitDir())
	if err != nil {
		t.Fatal(err)
	}
	s.noteRefs(refs) // as an export does that ends at the wrong moment
	if err := h.takeRefs(ctx, s); err != nil || !has("one") {
		t.Fatalf("after a fetch its bookmark is missing: %v", err)
	}

	// A ref that somebody moves between import and export is seen afterwards.
	s.mu.Lock()
	r, err := h.refresh(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	move("two")
	tx := r.Begin(s.who)
	if err := tx.SetBookmark(ctx, "three", r.View.Bookmark("one")); err != nil {
		t.Fatal(err)
	}
	if r, err = tx.Finish(ctx, "three"); err == nil {
		err = s.store.Publish(ctx, r)
	}
	if err == nil {
		r, err = s.exportGit(ctx, r)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.remember(r.Operation.ID)
	s.mu.Unlock()
	if err := h.look(ctx, s); err != nil || !has("two") || !has("three") {
		t.Fatalf("after an export: two %v, three %v, %v", has("two"), has("three"), err)
	}
}

// A git that did its work has done it, even if a child of its lives on.
func TestGitThatLeavesAChild(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 2 &")
	cmd.Stdout = &strings.Builder{}
	cmd.WaitDelay = time.Millisecond
	err := cmd.Run()
	if !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("it ended with %v", err)
	}
	if err := ended(err); err != nil {
		t.Error(err)
	}
}
