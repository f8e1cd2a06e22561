package panel

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"tandem/internal/panel/browsertest"
)

// Every page, in light, in dark and on a phone: axe-core finds nothing, the
// browser complains of nothing, nothing is wider than the screen.
func TestEveryPageIsSound(t *testing.T) {
	server := httptest.NewServer(galleryHandler())
	t.Cleanup(server.CloseClientConnections)
	var names []string
	only := os.Getenv("TANDEM_PANEL_PAGE") // look at one page while working on it
	for _, p := range galleryPages() {
		if only == "" || strings.Contains(","+only+",", ","+p.Name+",") {
			names = append(names, p.Name)
		}
	}
	var found []struct{ Page, Mode, What string }
	browsertest.Run(t, "testdata/gallery.cjs", map[string]any{
		"base": server.URL, "shots": browsertest.Shots(t, "panel"), "pages": names, "closely": only != "",
	}, &found)
	for _, f := range found {
		t.Errorf("%s (%s): %s", f.Page, f.Mode, f.What)
	}
}

// Everything can be reached and used from the keyboard, typing in a field is
// never taken for a shortcut, and single keys can be switched off.
func TestKeyboard(t *testing.T) {
	server := httptest.NewServer(galleryHandler())
	t.Cleanup(server.CloseClientConnections)
	var got struct {
		Problems []string
		Seen     map[string]any
	}
	browsertest.Run(t, "testdata/keyboard.cjs", map[string]any{"base": server.URL, "shots": browsertest.Shots(t, "panel")}, &got)
	for _, p := range got.Problems {
		if !strings.Contains(p, "404") { // the gallery has no page behind its links
			t.Error(p)
		}
	}
	want := map[string]any{
		"help": "help", "closed": "", "approve": "decide-approve", "rework": "decide-rework", "cancel": "decide-cancel",
		"row": 2.0, "rowBack": 0.0, "finder": "Journal", "theme": "dark", "themeKept": "dark", "went": "/panel/policy",
		"typed": "a?t", "typedOpened": "", "off": "", "phoneTerminal": true,
	}
	for k, w := range want {
		if got.Seen[k] != w {
			t.Errorf("%s: got %v, want %v", k, got.Seen[k], w)
		}
	}
}
