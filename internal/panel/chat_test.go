package panel

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/internal/connector/connectortest"
	"tandem/internal/panel/browsertest"
	"tandem/internal/provider/scripted"
	"tandem/internal/testenv"
)

// A conversation in a real browser, with files beside a prompt and an answer that stands; and a connector from its address to its tools.
func TestChatAndConnectors(t *testing.T) {
	h := startHouse(t)
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	mail, stop := connectortest.Start()
	t.Cleanup(stop)
	folder := filepath.Join(testenv.Dir(t), "code")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	h.do(t, "provider.add", testPIN, map[string]any{"id": "fake", "base": model.URL(), "wire": "anthropic", "keyless": true})
	h.do(t, "folder.grant", testPIN, map[string]any{"path": folder})
	session := h.do(t, "session.create", "", map[string]any{"title": "talk", "directory": folder, "model": "fake/scripted-1"})["id"]
	var got struct {
		Seen     map[string]bool
		Problems []string
	}
	browsertest.Run(t, "testdata/chat.cjs", map[string]any{"base": h.base, "code": h.code(t), "pin": testPIN, "session": session,
		"mail": mail.URL, "shots": browsertest.Shots(t, "panel")}, &got)
	for _, p := range got.Problems {
		t.Error(p)
	}
	for _, want := range []string{"attached", "always", "phone", "rule", "search", "accepted"} {
		if !got.Seen[want] {
			t.Errorf("%s was not seen", want)
		}
	}
}
