package daemon

import (
	"fmt"
	"strings"
	"testing"

	automation "tandem/internal/automation/wire"
	packs "tandem/internal/pack/wire"
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
