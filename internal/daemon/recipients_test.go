package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/space/peer"
	"tandem/internal/testenv"
)

// A message was approved by its recipient's name: that peer took another name, a third one took the old name, and the approved call went
// to the third. An approval is bound to the members whom names stand for, to all that there are when it is for all, and to the piece of a
// file that is shared.
func TestAnApprovedMessageGoesToWhoWasMeant(t *testing.T) {
	d, _ := walked(t)
	folder := t.TempDir()
	callers := map[string]op.Caller{}
	for _, name := range []string{"bob", "ann", "eve", "dan"} {
		mint(t, d, op.Agent, name)
		c, err := d.identity.Caller(t.Context(), identity.LocalTenant, name, op.DoorSocket)
		if err != nil {
			t.Fatal(err)
		}
		c.Client = op.Client{ID: "1." + name, Folder: folder}
		callers[name] = c
	}
	try := func(who, name string, in any) (any, error) {
		return d.gate.Invoke(op.WithCaller(t.Context(), callers[who]), name, in)
	}
	do := func(who, name string, in any) any {
		t.Helper()
		out, err := try(who, name, in)
		if err != nil {
			t.Fatalf("%s %s: %v", who, name, err)
		}
		return out
	}
	// asks files an ask for a call of bob's, and a person approves it.
	asks := func(name string, in any) (id string) {
		t.Helper()
		_, err := try("bob", name, in)
		if !fault.Is(err, fault.Pending) {
			t.Fatalf("%s does not ask: %v", name, err)
		}
		return fault.Public(err).Data["approval"]
	}
	approve := func(id string) {
		t.Helper()
		a, err := d.gate.Invoke(owner(t, d), "approval.get", approval.IDIn{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		ask := a.(*approval.Ask)
		if _, err := d.gate.Invoke(owner(t, d), "approval.decide", approval.DecideIn{ID: id, Verdict: approval.Approve, Digest: ask.Digest,
			Pages: ask.PageDigests()}); err != nil {
			t.Fatal(err)
		}
	}
	code := do("bob", "space.create", peer.CreateIn{}).(peer.Created).Code
	for _, name := range []string{"ann", "eve"} {
		do(name, "space.join", peer.JoinIn{Code: code})
		do(name, "space.rename", peer.RenameIn{Name: name})
		code = do("bob", "space.invite", peer.InviteIn{}).(peer.Invited).Code
	}
	// known waits until bob has heard of as many peers as there are, and who of them is called how; it answers who that is.
	known := func(want int, names map[string]string) (ids map[string]string) {
		t.Helper()
		testenv.Eventually(t, fmt.Sprintf("bob knows %d peers, and %v", want, names), 2*time.Minute, func() bool {
			ids = map[string]string{}
			for _, p := range do("bob", "space.peers", peer.Which{}).(peer.Peers).Peers {
				ids[p.Username] = p.ID
			}
			for name, id := range names {
				if ids[name] == "" || id != "" && ids[name] != id {
					return false
				}
			}
			return len(ids) == want
		})
		return ids
	}
	before := known(3, map[string]string{"ann": "", "eve": ""})
	if _, err := d.gate.Invoke(owner(t, d), "grant.add", book.GrantIn{Principal: "agent:bob", Effect: "ask", Resource: "space:/",
		Permissions: []string{"edit"}, Approvers: []string{"person:*"}}); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("what was meant\n")
	toAnn := peer.SendIn{Type: "chat", Message: "for ann alone", To: "ann"}
	toAll := peer.SendIn{Type: "chat", Message: "for the two"}
	brought := func(text string) peer.SendFilesIn {
		t.Helper()
		a := do("bob", "space.attach", peer.AttachIn{Name: "plan.txt", Data: []byte(text)}).(peer.Attached)
		return peer.SendFilesIn{SendIn: toAnn, Attachments: []string{a.ID}}
	}
	plan := brought("as it was shown")
	share := peer.ShareIn{File: "a.txt", To: "eve"}
	first := map[string]string{"one": asks("space.send", toAnn), "all": asks("space.send", toAll), "piece": asks("space.share", share),
		"attachment": asks("space.send_files", plan)}
	for _, id := range first {
		approve(id)
	}

	do("ann", "space.rename", peer.RenameIn{Name: "former"})
	do("eve", "space.rename", peer.RenameIn{Name: "ann"})
	known(3, map[string]string{"former": before["ann"], "ann": before["eve"]})
	if id := asks("space.send", toAnn); id == first["one"] {
		t.Error("what was approved for one peer goes to another of that name")
	}
	share.To = "former"
	approve(asks("space.share", share))
	write("what nobody saw\n")
	asks("space.share", share)
	do("dan", "space.join", peer.JoinIn{Code: code})
	known(4, nil)
	if id := asks("space.send", toAll); id == first["all"] {
		t.Error("what was approved for two peers goes to three")
	}

	// As it was approved it passes, once.
	do("eve", "space.rename", peer.RenameIn{Name: "eve"})
	do("ann", "space.rename", peer.RenameIn{Name: "ann"})
	known(4, map[string]string{"ann": before["ann"], "eve": before["eve"]})
	do("bob", "space.send", toAnn)
	if id := asks("space.send_files", brought("something else under that name")); id == first["attachment"] {
		t.Error("what was approved with one attachment goes out with another of that name")
	}
	do("bob", "space.send_files", plan)
}
