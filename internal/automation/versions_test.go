package automation

import (
	"fmt"
	"strings"
	"testing"

	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// A definition has so many versions and no more; the same again is none, and removed with its history it begins anew.
func TestADefinitionHasAnEnd(t *testing.T) {
	h := newHouse(t)
	text := func(i int) string {
		return strings.Replace(small, "[limits]", fmt.Sprintf("title = \"%d\"\n[limits]", i), 1)
	}
	for i := range keptVersions {
		do(h, wire.Add, wire.AddIn{Text: text(i)})
	}
	if _, err := op.Do(op.WithCaller(t.Context(), owner), h.gate, wire.Add, wire.AddIn{Text: text(keptVersions)}); !fault.Is(err,
		fault.Exhausted) || !strings.Contains(fault.Public(err).Next, "automation remove small") {
		t.Errorf("one more: %v", err)
	}
	h.Drop = nil // it has no webhook
	do(h, wire.Remove, wire.NameIn{Name: "small"})
	do(h, wire.Add, wire.AddIn{Text: text(0)})
}
