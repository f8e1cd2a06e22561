package loop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/policy/book"
	"tandem/internal/session"
	"tandem/internal/session/aside"
	"tandem/internal/session/wire"
	"tandem/internal/testenv"
	"tandem/internal/tool"
)

// Landlock cannot keep a part of a folder from being written: hooks and settings that a command wrote into the repository of its folder ran
// outside. They are set aside when the command has ended, what stood there before stands there again, and a hook of the person's is still
// one.
func TestLandlockLeavesNoHook(t *testing.T) {
	h := newHouseWith(t, "", tool.Landlock)
	if h.box.Kind != tool.Landlock {
		t.Skipf("this kernel has no Landlock: %s", h.box.Why)
	}
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
	if out, err := exec.Command("git", "init", "-q", h.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	h.write(".git/hooks/post-commit", "#!/bin/sh\n# the person's own\n")
	config := h.read(".git/config")
	s := h.session()
	h.until(h.prompt(s, `[[tool bash {"command":"echo x > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; `+
		`echo y >> .git/hooks/post-commit; printf '[core] fsmonitor = x' >> .git/config"}]] [[result]]`), session.Done)
	got := h.do(local, "session.get", session.IDIn{ID: s.ID}).(*session.Session)
	var found []string
	for _, a := range got.Aside {
		found = append(found, a.Path)
	}
	if strings.Join(found, " ") != ".git/hooks/pre-commit .git/hooks/post-commit .git/config" {
		t.Errorf("set aside: %q; %s", found, h.said(s))
	}
	if h.read(".git/hooks/pre-commit") != "(.git/hooks/pre-commit is not there)" ||
		h.read(".git/hooks/post-commit") != "#!/bin/sh\n# the person's own\n" || h.read(".git/config") != config {
		t.Errorf("%q %q %q", h.read(".git/hooks/pre-commit"), h.read(".git/hooks/post-commit"), h.read(".git/config"))
	}
}

// A command that a crash cut off is looked at after the start: what it left is set aside before anything else happens.
func TestACutOffCommandLeavesNoHook(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	w := aside.Work{Tenant: s.Tenant, Session: s.ID, ID: "call_that_was_cut"}
	if err := h.room.Aside.Look(t.Context(), w, []string{h.dir}, nil); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", filepath.Join(h.dir, "sub")).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	h.write("sub/.git/hooks/pre-commit", "#!/bin/sh\n")
	h.close()
	h.open()
	testenv.Eventually(t, "the hook is set aside", 2*time.Minute, func() bool {
		_, err := os.Lstat(filepath.Join(h.dir, "sub/.git/hooks/pre-commit"))
		return err != nil
	})
	list := h.do(person, "aside.list", wire.AsideListIn{Session: s.ID}).(wire.AsideListOut)
	if len(list.Aside) != 1 || list.Aside[0].Path != "sub/.git/hooks/pre-commit" {
		t.Errorf("%+v", list.Aside)
	}
}
