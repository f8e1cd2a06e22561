package panel

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// asAgent runs an operation with the agent's token.
func (h *house) asAgent(t *testing.T, name string, in any) map[string]any {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", h.near+"/op/"+name, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.agent)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body) // what is missing of it does not parse
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%s: %d %s", name, res.StatusCode, data)
	}
	return out
}

// A message shows what came with it, and the browser saves it: as bytes with a name, and never as a page of ours.
func TestAttachmentsAreSavedFromTheirMessage(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	code := h.do(t, "space.create", "", map[string]any{"name": "files"})["code"].(string)
	h.asAgent(t, "space.join", map[string]any{"code": code})
	page := "<script>alert(1)</script>"
	brought := h.asAgent(t, "space.attach", map[string]any{"name": "report.html", "data": []byte(page)})["id"].(string)
	h.asAgent(t, "space.send_files", map[string]any{"type": "chat", "message": "the report", "attachments": []string{brought}})
	_, body, _ := b.ask(t, "GET", "/panel/spaces/messages", nil)
	link := regexp.MustCompile(`href="(/panel/spaces/messages/m_[a-z0-9]+/attachments/1)"`).FindStringSubmatch(body)
	if link == nil || !strings.Contains(body, "report.html") || !strings.Contains(body, "25 bytes") {
		t.Fatalf("the message does not show its attachment:\n%s", body)
	}
	status, got, head := b.ask(t, "GET", link[1], nil)
	if status != 200 || got != page {
		t.Errorf("%d %q", status, got)
	}
	if head.Get("Content-Type") != "application/octet-stream" || head.Get("X-Content-Type-Options") != "nosniff" ||
		head.Get("Content-Disposition") != "attachment; filename=report.html" {
		t.Errorf("%v", head)
	}
	if status, _, _ := b.ask(t, "GET", strings.TrimSuffix(link[1], "1")+"2", nil); status < 400 {
		t.Errorf("one that is not there: %d", status)
	}
	if status, _, _ := h.browser(t).ask(t, "GET", link[1], nil); status < 300 {
		t.Errorf("who is not signed in: %d", status)
	}
}
