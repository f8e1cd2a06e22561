package panel

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var (
	packInstall = regexp.MustCompile(`href="(/panel/packs/[a-z-]+/install\?[^"]*)"`)
	packDigest  = regexp.MustCompile(`name="digest" value="([0-9a-f]{64})"`)
)

// A person looks at a pack that comes with tandem, says what it needs to know, sees what it would be allowed, and installs exactly that;
// then removes it. The cookie alone installs nothing, and neither does another digest than the page showed.
func TestAPackFromItsPageToItsEnd(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	list := b.page(t, "/panel/packs")
	for _, want := range []string{"vendor-risk", "nightly-tests", "weekly-report", "comes with tandem", "tandem pack show ./folder"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q: %s", want, refusedWords(list))
		}
	}
	if body := b.page(t, "/panel/automations"); !strings.Contains(body, `href="/panel/packs"`) {
		t.Error("the page of automations does not lead to the packs")
	}
	if code, body, _ := b.ask(t, "GET", "/panel/packs/nobodys", nil); code != http.StatusNotFound ||
		!strings.Contains(body, "tandem pack install") {
		t.Errorf("one that is not there: %d %s", code, refusedWords(body))
	}
	const nightly = "/panel/packs/nightly-tests"
	if body := b.page(t, nightly); !strings.Contains(body, `name="set-folder"`) || packInstall.MatchString(body) {
		t.Errorf("without its settings: %s", refusedWords(body))
	}
	folder := checkout(t, "readme", "first\n")
	with := nightly + "?" + url.Values{"set-folder": {folder}}.Encode()
	if body := b.page(t, with); !strings.Contains(body, "is not granted") || !strings.Contains(body, "make test") ||
		!strings.Contains(body, `value="`+folder+`"`) {
		t.Errorf("with a folder that nobody granted: %s", refusedWords(body))
	}
	h.do(t, "folder.grant", testPIN, map[string]any{"path": folder})
	body := b.page(t, with)
	leads := packInstall.FindStringSubmatch(body)
	if leads == nil || strings.Contains(body, "is not granted") {
		t.Fatalf("it cannot be installed: %s", refusedWords(body))
	}
	asks := b.page(t, strings.ReplaceAll(leads[1], "&amp;", "&"))
	digest := packDigest.FindStringSubmatch(asks)
	if digest == nil || !strings.Contains(asks, "make test") {
		t.Fatalf("the question: %s", refusedWords(asks))
	}
	form := url.Values{"digest": {digest[1]}, "was": {""}, "set-folder": {folder}}
	if code, body, _ := b.ask(t, "POST", nightly+"/install", form); code != http.StatusOK || !strings.Contains(body, "this needs you") {
		t.Errorf("nobody was there: %d %s", code, refusedWords(body))
	}
	form.Set("pin", testPIN)
	other := url.Values{"digest": {strings.Repeat("0", 64)}, "was": {""}, "set-folder": {folder}, "pin": {testPIN}}
	if code, body, _ := b.ask(t, "POST", nightly+"/install", other); code != http.StatusOK || !strings.Contains(body, "refused") {
		t.Errorf("another than was looked at: %d %s", code, refusedWords(body))
	}
	if body := b.page(t, "/panel/packs"); strings.Contains(body, ">installed<") {
		t.Error("a refused one is installed")
	}
	if to := b.leads(t, nightly+"/install", form); to != nightly+"?said=pack-installed" {
		t.Errorf("installed it leads to %s", to)
	}
	if body := b.page(t, nightly); !strings.Contains(body, "Its automations: ") || !strings.Contains(body, nightly+"/remove") {
		t.Errorf("installed: %s", refusedWords(body))
	}
	if body := b.page(t, "/panel/automations"); !strings.Contains(body, "Tests at night") && !strings.Contains(body, "nightly") {
		t.Errorf("its automations are not there: %s", refusedWords(body))
	}
	if asks := b.page(t, nightly+"/remove"); !strings.Contains(asks, "Knowledge stays") {
		t.Errorf("the question before it goes: %s", refusedWords(asks))
	}
	if to := b.leads(t, nightly+"/remove", url.Values{"pin": {testPIN}}); !strings.HasPrefix(to, "/panel/packs?said=pack-") {
		t.Errorf("removed it leads to %s", to)
	}
	if body := b.page(t, nightly); !strings.Contains(body, "not installed") {
		t.Errorf("it is still there: %s", refusedWords(body))
	}
}
