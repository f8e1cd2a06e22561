package panel

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// The twin of setup's question: a topic is there to subscribe to, a first notice shows whether it arrives, and what was typed outlives a
// refusal. From then on the phone is told
// of what waits, and the panel's tab counts it on every page.
func TestAPhoneIsToldFromThePage(t *testing.T) {
	var away atomic.Bool
	told := make(chan string, 100)
	away.Store(true)
	ntfy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			w.WriteHeader(http.StatusInsufficientStorage)
			return
		}
		told <- r.URL.Path + " " + r.Header.Get("Click")
	}))
	defer ntfy.Close()
	h := startHouse(t, "TANDEM_NTFY_SERVER="+ntfy.URL)
	b := h.browser(t)
	b.signIn(t)
	topic := regexp.MustCompile(`name="topic"[^>]*value="(tandem-[a-z0-9]+)"|value="(tandem-[a-z0-9]+)"[^>]*name="topic"`).
		FindString(b.page(t, "/panel/setup"))
	if topic = regexp.MustCompile(`tandem-[a-z0-9]+`).FindString(topic); topic == "" {
		t.Fatal("the page has no topic to subscribe to")
	}
	if again := b.page(t, "/panel/setup"); !strings.Contains(again, topic) {
		t.Error("looked at again, the page has another topic, and a phone that subscribed hears nothing")
	}
	form := url.Values{"topic": {topic}, "address": {"https://house.example"}, "pin": {testPIN}}
	_, refused, _ := b.ask(t, "POST", "/panel/setup/phone", form)
	for _, want := range []string{"did not take a first notice", topic, `value="https://house.example"`} {
		if !strings.Contains(refused, want) {
			t.Errorf("refused, the page lacks %q: %s", want, refusedWords(refused))
		}
	}
	away.Store(false)
	b.does(t, "/panel/setup/phone", form)
	if got := <-told; got != "/"+topic+" https://house.example/panel/" {
		t.Errorf("ntfy was told %s", got)
	}
	if page := b.page(t, "/panel/setup"); strings.Contains(page, `name="topic"`) || !strings.Contains(page, "It is told, by ntfy") {
		t.Error("the page does not say that the phone is told")
	}
	if page := b.page(t, "/panel/sessions"); !strings.Contains(page, "<title>Sessions") {
		t.Error("the tab counts what does not wait")
	}
	if code := h.waits(t); code != http.StatusAccepted {
		t.Fatalf("what waits for a person answers %d", code)
	}
	if got := <-told; !strings.HasPrefix(got, "/"+topic+" https://house.example/panel/approvals") {
		t.Errorf("of an ask ntfy was told %s", got)
	}
	if page := b.page(t, "/panel/sessions"); !strings.Contains(page, "<title>(1) Sessions") {
		t.Error("the tab does not count what waits")
	}
}

// waits does something that waits for a person.
func (h *house) waits(t *testing.T) int {
	t.Helper()
	req, err := http.NewRequest("POST", "http://tandem/op/setting.set", strings.NewReader(`{"key":"listen","value":"127.0.0.1:1"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := h.sock.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
