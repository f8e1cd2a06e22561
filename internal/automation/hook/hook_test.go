package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func sum(secret, text string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil))
}

// Each scheme takes what its sender signs, and nothing else: another body, another secret, no signature, a time long ago.
func TestSchemes(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	body := `{"id": "evt_1", "type": "paid", "text": "hello"}`
	for name, c := range map[string]struct {
		header, value string
		with          map[string]string
		id, kind      string
	}{
		"generic": {"X-Tandem-Signature", "t=1700000000,v1=" + sum("s", "1700000000."+body), map[string]string{"X-Tandem-Delivery": "d1",
			"X-Tandem-Event": "made"}, "d1", "made"},
		"github": {"X-Hub-Signature-256", "sha256=" + sum("s", body), map[string]string{"X-GitHub-Delivery": "g1", "X-GitHub-Event": "push"},
			"g1", "push"},
		"gitlab": {"X-Gitlab-Token", "s", map[string]string{"X-Gitlab-Event-UUID": "l1", "X-Gitlab-Event": "Push Hook"}, "l1", "Push Hook"},
		"linear": {"Linear-Signature", sum("s", body), map[string]string{"Linear-Delivery": "n1", "Linear-Event": "Issue"}, "n1", "Issue"},
		"notion": {"X-Notion-Signature", "sha256=" + sum("s", body), nil, "evt_1", "paid"},
		"stripe": {"Stripe-Signature", "t=1700000000,v1=00ff,v1=" + sum("s", "1700000000."+body), nil, "evt_1", "paid"},
	} {
		h := http.Header{}
		h.Set(c.header, c.value)
		for k, v := range c.with {
			h.Set(k, v)
		}
		d, err := Check(name, []byte("s"), h.Get, []byte(body), now)
		if err != nil || d.ID != c.id || d.Kind != c.kind || len(d.Mark) != 64 {
			t.Errorf("%s: %+v %v", name, d, err)
		}
		if _, err := Check(name, []byte("other"), h.Get, []byte(body), now); err == nil {
			t.Errorf("%s takes another secret", name)
		}
		if _, err := Check(name, nil, h.Get, []byte(body), now); err == nil {
			t.Errorf("%s takes no secret", name)
		}
		if _, err := Check(name, []byte("s"), h.Get, []byte(body+" "), now); err == nil && name != "gitlab" {
			t.Errorf("%s takes another body", name)
		}
		if _, err := Check(name, []byte("s"), http.Header{}.Get, []byte(body), now); err == nil {
			t.Errorf("%s takes what is not signed", name)
		}
		if _, err := Check(name, []byte("s"), h.Get, []byte(body), now.Add(time.Hour)); (err == nil) != (name != "generic" && name != "stripe") {
			t.Errorf("%s an hour later: %v", name, err)
		}
	}
	if _, err := Check("unknown", []byte("s"), http.Header{}.Get, nil, now); err == nil {
		t.Error("a scheme that nobody knows is taken")
	}
}

// Where the signed body says when it was sent, one that was held back for longer than messages are known is not taken. Where it says
// nothing, or something else, the body is data as ever.
func TestWhatWasHeldBackIsOld(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	old, young := now.Add(-Remembered-time.Minute), now.Add(-Remembered+time.Minute)
	for _, c := range []struct {
		scheme, header, prefix, body string
		taken                        bool
	}{
		{"linear", "Linear-Signature", "", fmt.Sprintf(`{"webhookTimestamp": %d}`, old.UnixMilli()), false},
		{"linear", "Linear-Signature", "", fmt.Sprintf(`{"webhookTimestamp": %d}`, young.UnixMilli()), true},
		{"linear", "Linear-Signature", "", `{"webhookTimestamp": "yesterday"}`, true},
		{"linear", "Linear-Signature", "", `[1]`, true},
		{"linear", "Linear-Signature", "", `{"webhookTimestamp": null}`, true},
		{"notion", "X-Notion-Signature", "sha256=", fmt.Sprintf(`{"timestamp": %q}`, old.Format(time.RFC3339Nano)), false},
		{"notion", "X-Notion-Signature", "sha256=", fmt.Sprintf(`{"timestamp": %q}`, young.Format(time.RFC3339Nano)), true},
		{"github", "X-Hub-Signature-256", "sha256=", fmt.Sprintf(`{"timestamp": %q}`, old.Format(time.RFC3339Nano)), true},
	} {
		h := http.Header{}
		h.Set(c.header, c.prefix+sum("s", c.body))
		if _, err := Check(c.scheme, []byte("s"), h.Get, []byte(c.body), now); (err == nil) != c.taken {
			t.Errorf("%s %s: %v", c.scheme, c.body, err)
		}
	}
}

// A sender's own words are cut between letters: half a letter is no text, and a database refuses it.
func TestWordsAreCutBetweenLetters(t *testing.T) {
	long := strings.Repeat("a", maxWord-1) + "ü"
	got := word("X", func(string) string { return long }, nil)
	if got != long[:maxWord-1] {
		t.Errorf("%q", got)
	}
}
