package renew

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/session/agents"
)

// issuer gives tokens that renew a sign-in once. Whoever comes with a used one ends them all.
type issuer struct {
	*httptest.Server
	mu       sync.Mutex
	now      func() time.Time
	life     time.Duration
	n        int
	reused   []string
	requests []map[string]string
	status   int // to answer instead
}

func newIssuer(t *testing.T, now func() time.Time) *issuer {
	t.Helper()
	i := &issuer{now: now, life: time.Hour}
	i.Server = httptest.NewServer(http.HandlerFunc(i.answer))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) answer(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var in map[string]string
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in["grant_type"] != "refresh_token" {
		http.Error(w, "what", http.StatusBadRequest)
		return
	}
	i.requests = append(i.requests, in)
	if i.status != 0 {
		w.WriteHeader(i.status)
		return
	}
	if in["refresh_token"] != fmt.Sprintf("renews-%d", i.n) {
		i.reused = append(i.reused, in["refresh_token"])
		i.n = -1
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	i.n++
	json.NewEncoder(w).Encode(map[string]any{"access_token": i.access(i.n), "refresh_token": fmt.Sprintf("renews-%d", i.n),
		"id_token": i.access(i.n), "expires_in": int(i.life.Seconds())})
}

// access is a token that says when it ends, and whose it is.
func (i *issuer) access(n int) string {
	claims, err := json.Marshal(map[string]any{"exp": i.now().Add(i.life).Unix(), "n": n, "email": "a@b.example",
		"https://api.openai.com/auth": map[string]any{"chatgpt_account_id": "acc", "chatgpt_plan_type": "plus", "chatgpt_user_id": "u"}})
	if err != nil {
		panic(err)
	}
	text := base64.RawURLEncoding
	return text.EncodeToString([]byte(`{"alg":"none"}`)) + "." + text.EncodeToString(claims) + ".c2ln"
}

// person writes a sign-in as a program keeps it.
func (i *issuer) person(t *testing.T, agent, config string) {
	t.Helper()
	text := fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"a-0","refreshToken":"renews-0","expiresAt":%d,"scopes":["user:inference","user:pr`+
		`ofile"],`+
		`"subscriptionType":"max"},"mcpOAuth":{"kept":12345678901234567890}}`, i.now().Add(i.life).UnixMilli())
	if agent == agents.CodexName {
		text = fmt.Sprintf(`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":%[1]q,"access_token":%[1]q,"refresh_token":"re`+
			`news-0",`+
			`"account_id":"acc"},"last_refresh":"2026-01-01T00:00:00Z"}`, i.access(0))
	}
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(agents.SignInFile(agent, config), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func broker(i *issuer, c *clock) *Broker {
	b := New(nil, c.Now, slog.New(slog.NewTextHandler(io.Discard, nil)))
	b.Issuers = map[string]string{agents.ClaudeName: i.URL, agents.CodexName: i.URL}
	return b
}

func signedIn(t *testing.T, agent, config string) (signIn, string) {
	t.Helper()
	data, err := os.ReadFile(agents.SignInFile(agent, config))
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse(agent, data)
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return s, string(data)
}

// Five sessions, and the person's own program which renews by itself under its lock, go through three rotations at an issuer that
// signs everybody out when something that renews is used twice. Sessions are lent each new access token, and never what renews it.
func TestFiveSessionsAndThePersonAcrossThreeRotations(t *testing.T) {
	for _, agent := range []string{agents.ClaudeName, agents.CodexName} {
		t.Run(agent, func(t *testing.T) {
			c := &clock{now: time.Now()}
			i := newIssuer(t, c.Now)
			b := broker(i, c)
			config := filepath.Join(t.TempDir(), "state")
			i.person(t, agent, config)
			own := broker(i, c) // the person's program: the same steps and the same lock, and no memory in common
			for round := 1; round <= 3; round++ {
				if b.Due(agent, config) {
					t.Fatalf("round %d: it is due %v before its end", round, i.life)
				}
				c.pass(i.life - time.Minute)
				if !b.Due(agent, config) {
					t.Fatalf("round %d: it is not due a minute before its end", round)
				}
				var all sync.WaitGroup
				for range 5 {
					all.Go(func() {
						if err := b.Renew(t.Context(), agent, config); err != nil {
							t.Errorf("round %d: %v", round, err)
						}
					})
				}
				all.Go(func() {
					if err := own.Renew(t.Context(), agent, config); err != nil {
						t.Errorf("round %d, the person's program: %v", round, err)
					}
				})
				all.Wait()
				s, text := signedIn(t, agent, config)
				if s.refresh != fmt.Sprintf("renews-%d", round) || i.n != round || len(i.reused) > 0 {
					t.Fatalf("round %d: the file has %s, the issuer gave %d and saw again %v", round, s.refresh, i.n, i.reused)
				}
				if left := s.ends.Sub(c.Now()); left < i.life-2*time.Second || left > i.life+time.Second {
					t.Errorf("round %d: it ends in %v", round, left)
				}
				if agent == agents.ClaudeName && (!strings.Contains(text, "12345678901234567890") || !strings.Contains(text, `"max"`)) ||
					agent == agents.CodexName && !strings.Contains(text, `"account_id": "acc"`) {
					t.Errorf("round %d: something else was lost: %s", round, text)
				}
				lent, _, err := agents.SignIn(agent, []byte(text))
				if err != nil || strings.Contains(string(lent), "renews-") || !strings.Contains(string(lent), i.access(round)[:20]) {
					t.Errorf("round %d: a session is lent %s, %v", round, lent, err)
				}
			}
			for _, in := range i.requests {
				if agent == agents.ClaudeName && in["scope"] != "user:inference user:profile" || in["client_id"] == "" {
					t.Errorf("the issuer was asked %v", in)
				}
			}
			left, err := filepath.Glob(filepath.Join(filepath.Dir(config), "*lock"))
			inside, err2 := filepath.Glob(filepath.Join(config, ".*lock"))
			if err != nil || err2 != nil || len(left)+len(inside) > 0 {
				t.Errorf("locks were left: %v %v", left, inside)
			}
			if st, err := os.Stat(agents.SignInFile(agent, config)); err != nil || st.Mode().Perm() != 0o600 {
				t.Errorf("the file's mode is %v, %v", st.Mode(), err)
			}
		})
	}
}

// While the person's program renews, nobody else does; a lock that was left behind holds nobody up.
func TestTheProgramsOwnLockIsKept(t *testing.T) {
	c := &clock{now: time.Now()}
	i := newIssuer(t, c.Now)
	b := broker(i, c)
	config := filepath.Join(t.TempDir(), "state")
	i.person(t, agents.ClaudeName, config)
	c.pass(i.life)
	for _, path := range []string{filepath.Join(config, ".oauth_refresh.lock"), config + ".lock"} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := b.Renew(short, agents.ClaudeName, config); err == nil || len(i.requests) > 0 {
			t.Errorf("with %s held: %v, %d requests", path, err, len(i.requests))
		}
		cancel()
		old := time.Now().Add(-2 * agents.LockStale)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		c.pass(again)
	}
	if err := b.Renew(t.Context(), agents.ClaudeName, config); err != nil || i.n != 1 {
		t.Errorf("after locks that were left behind: %v, %d", err, i.n)
	}
}

// What an issuer refused is not sent again until the person signed in anew; what failed for now is tried a minute later. The file
// stays as it was, and a sign-in behind a link stays behind it.
func TestWhatCannotBeRenewed(t *testing.T) {
	c := &clock{now: time.Now()}
	i := newIssuer(t, c.Now)
	b := broker(i, c)
	config := filepath.Join(t.TempDir(), "state")
	i.person(t, agents.ClaudeName, config)
	before := func() string { _, text := signedIn(t, agents.ClaudeName, config); return text }()
	c.pass(i.life)
	renew := func(want int) {
		t.Helper()
		b.Renew(t.Context(), agents.ClaudeName, config) //nolint:errcheck // the file and the requests tell
		if _, text := signedIn(t, agents.ClaudeName, config); text != before || len(i.requests) != want {
			t.Errorf("%d requests, want %d; %s", len(i.requests), want, text)
		}
	}
	i.status = http.StatusServiceUnavailable
	renew(1)
	renew(1)
	c.pass(again)
	renew(2)
	i.status = http.StatusFound // elsewhere is not asked
	c.pass(again)
	renew(3)
	i.status = http.StatusBadRequest
	c.pass(again)
	renew(4)
	c.pass(24 * time.Hour)
	renew(4)
	i.status = 0
	elsewhere := filepath.Join(t.TempDir(), "kept.json")
	if err := os.WriteFile(elsewhere, []byte(strings.Replace(before, "subscriptionType", "signedInAnew", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	path := agents.SignInFile(agents.ClaudeName, config)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	if err := New(nil, c.Now, b.Log).Renew(t.Context(), agents.OpenCodeName, config); err != nil {
		t.Errorf("of a program that is not known: %v", err)
	}
	fresh := broker(i, c) // a broker that has not heard the refusal
	if err := fresh.Renew(t.Context(), agents.ClaudeName, config); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(path); err != nil || to != elsewhere {
		t.Errorf("the link is %q, %v", to, err)
	}
	if s, text := signedIn(t, agents.ClaudeName, config); s.refresh != "renews-1" || !strings.Contains(text, "signedInAnew") {
		t.Errorf("behind the link is %s", text)
	}
}
