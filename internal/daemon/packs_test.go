package daemon

import (
	"fmt"
	"strings"
	"testing"

	automation "tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	packs "tandem/internal/pack/wire"
	"tandem/internal/policy/book"
)

func definition(name string) string {
	return fmt.Sprintf("name = %q\n[[node]]\nid = \"rest\"\n[node.wait]\nfor = \"2s\"\n", name)
}

// Whoever speaks to the server past the preview takes over no automation under the name of another one.
func TestAPackIsHeldToItsNames(t *testing.T) {
	k := keptAt(t, "")
	k.must("automation.add", automation.AddIn{Text: definition("mine")})
	p := packs.Pack{Name: "thief", Version: "1", Automations: []packs.Automation{{Name: "harmless",
		Text: strings.ReplaceAll(definition("mine"), "2s", "3s")}}}
	_, err := k.do("pack.install", packs.InstallIn{Pack: p, Digest: p.Digest()})
	if err == nil || !strings.Contains(err.Error(), "its name is mine, and not harmless") {
		t.Errorf("an automation was taken over: %v", err)
	}
	if n := k.count("SELECT count(*) FROM automation WHERE live <> ''"); n != 0 {
		t.Errorf("%d automations are switched on", n)
	}
}

// What a pack denies its automations is taken back by a person who is present alone, and a pack's row takes back nobody else's grant.
func TestAPacksGrantsAreTakenBackByAPerson(t *testing.T) {
	k := keptAt(t, "")
	p := packs.Pack{Name: "ours", Version: "1", Automations: []packs.Automation{{Name: "greet", Text: definition("greet")}},
		Grants: []packs.Grant{{Automation: "greet", Effect: "deny", Resource: "resource:/other", Permissions: []string{"edit"}}}}
	k.must("pack.install", packs.InstallIn{Pack: p, Digest: p.Digest()})
	other := k.must("grant.add", book.GrantIn{Principal: "service:automation.another", Effect: "deny", Resource: "resource:/other",
		Permissions: []string{"edit"}}).(book.GrantOut).ID
	if err := k.d.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE pack SET grants = replace(grants, '[', ?)", `["`+other+`",`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	c := op.CallerFrom(k.ctx())
	c.Present = ""
	if _, err := k.d.gate.Invoke(op.WithCaller(t.Context(), c), "pack.remove", packs.NameIn{Name: "ours"}); !fault.Is(err, fault.Denied) {
		t.Fatalf("a denial is taken back without presence: %v", err)
	}
	k.must("pack.remove", packs.NameIn{Name: "ours"})
	stay := k.must("grant.list", book.GrantsIn{}).(book.GrantsOut).Grants
	if len(stay) != 1 || stay[0].ID != other {
		t.Errorf("these grants stay: %+v", stay)
	}
}
