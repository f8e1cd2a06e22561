package daemon

import (
	"testing"

	"tandem/internal/session"
)

// Settings are given whole: one that sets a budget and says nothing of narrow does not widen a narrow session.
func TestANarrowSessionStaysNarrow(t *testing.T) {
	k := keptAt(t, "")
	s := k.must("session.create", session.CreateIn{Title: "narrow", Config: session.Config{Narrow: true}}).(*session.Session)
	k.must("session.update", session.UpdateIn{ID: s.ID, Config: &session.Config{MaxTokens: 300}})
	if got := k.must("session.get", session.IDIn{ID: s.ID}).(*session.Session); !got.Config.Narrow || got.Config.MaxTokens != 300 {
		t.Errorf("%+v", got.Config)
	}
}
