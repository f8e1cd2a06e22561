package panel

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// One ask whose input was 60 KB without a blank kept the list of approvals from loading: every page carried all of it. A list carries a
// line of it, and its own page a part at a time, so that they come as fast as without it.
func TestAHugeAskSlowsNoPage(t *testing.T) {
	h := startHouse(t)
	body, err := json.Marshal(map[string]any{"key": "prod/huge", "value": strings.Repeat("A", 60<<10)})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", h.near+"/op/resource.put", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.agent)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		t.Fatalf("it is not asked for: %s", res.Status)
	}
	b := h.browser(t)
	b.signIn(t)
	long := regexp.MustCompile(`A{1000}`)
	var ask string
	for _, path := range []string{"/panel/", "/panel/approvals", "the ask"} {
		if path == "the ask" {
			path = ask
		}
		began := time.Now()
		code, page, _ := b.ask(t, "GET", path, nil)
		took := time.Since(began)
		if code != http.StatusOK || took > 20*time.Second {
			t.Errorf("%s: %d after %s", path, code, took)
		}
		if found := regexp.MustCompile(`/panel/approvals/ask_[0-9a-z]+`).FindString(page); found != "" {
			ask = found
		}
		if path != ask && long.MatchString(page) || len(page) > 300<<10 {
			t.Errorf("%s carries the ask whole: %d bytes", path, len(page))
		}
		t.Logf("%s: %d bytes after %s", path, len(page), took)
	}
}
