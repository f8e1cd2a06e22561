package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// asking is the part of the load that needs people: an agent's call that waits
// for an approval, a person's decision, and tokens made with a PIN.
type asking struct {
	s       *server
	agent   string // token of an agent whose writes below asked/ need an approval
	decider string // token of a person that may decide
	n       int
	asks    []*asked
	tokens  []string // acknowledged
	secrets []string // names, acknowledged
}

// asked is one call on its way: each flag is set once the server acknowledged.
type asked struct {
	key                  string
	id                   string // of the ask, when known
	filed, decided, done bool
}

// newAsking sets a PIN and makes the actors, on a terminal as a person would.
func newAsking(s *server) *asking {
	s.t.Helper()
	a := &asking{s: s}
	person := func(args ...string) string {
		out, err := s.typed(args...)
		if err != nil {
			s.t.Fatalf("tandem %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	person("pin", "set")
	person("actor", "add", "builder", "--kind", "agent")
	person("grant", "add", "agent:builder", "resource:/asked", "--ask", "--can", "edit")
	a.agent = tokenIn(s.t, person("token", "new", "builder"))
	a.decider = tokenIn(s.t, person("token", "new", "--person", "--decide", "--expires", "1h"))
	return a
}

func tokenIn(t testing.TB, out string) string {
	t.Helper()
	for _, word := range strings.Fields(out) {
		if strings.HasPrefix(word, "tdm_") {
			return word
		}
	}
	t.Fatalf("no token in %q", out)
	return ""
}

// step starts one call, or carries on with the newest that is not done.
func (a *asking) step(ctx context.Context) {
	var c *asked
	if n := len(a.asks); n > 0 && !a.asks[n-1].done {
		c = a.asks[n-1]
	} else {
		a.n++
		c = &asked{key: fmt.Sprintf("asked/%06d", a.n)}
		a.asks = append(a.asks, c)
	}
	a.advance(ctx, c)
}

// advance does the next thing that was not acknowledged yet. Doing it again
// must be harmless: the same call finds the same ask, a decision is made once.
func (a *asking) advance(ctx context.Context, c *asked) error {
	switch {
	case !c.filed:
		got, err := a.call(ctx, c)
		if err != nil {
			return err
		}
		switch got.status {
		case http.StatusAccepted:
			c.filed, c.id = true, askIn(got)
		case http.StatusServiceUnavailable:
		default:
			return fmt.Errorf("the first call of %s: %s", c.key, got)
		}
	case !c.decided:
		seen, err := a.s.try(ctx, a.decider, "GET", "/approval/"+c.id, nil)
		if err != nil {
			return err
		}
		var ask struct {
			Digest string
			Page   struct{ Digest string } `json:"first_page"`
		}
		_ = json.Unmarshal(seen.body, &ask) // without one the answer is refused, and the case below tells
		got, err := a.s.try(ctx, a.decider, "POST", "/approval/"+c.id+"/decide",
			map[string]any{"decision": "approve", "digest": ask.Digest, "pages": []string{ask.Page.Digest}})
		if err != nil {
			return err
		}
		switch got.status {
		case http.StatusOK, http.StatusConflict: // a conflict: the lost answer was a yes
			c.decided = true
		case http.StatusServiceUnavailable:
		default:
			return fmt.Errorf("deciding %s: %s", c.key, got)
		}
	default:
		got, err := a.call(ctx, c)
		if err != nil {
			return err
		}
		switch got.status {
		case http.StatusOK:
			c.done = true
		case http.StatusServiceUnavailable:
		default:
			return fmt.Errorf("the approved call of %s: %s", c.key, got)
		}
	}
	return nil
}

func (a *asking) call(ctx context.Context, c *asked) (answer, error) {
	return a.s.try(ctx, a.agent, "PUT", "/resource/"+c.key, map[string]any{"value": c.key, "if_absent": true}, "Idempotency-Key", c.key)
}

func askIn(a answer) string {
	var problem struct {
		Ask  string `json:"ask"`
		Data struct{ Ask string }
	}
	_ = json.Unmarshal(a.body, &problem)
	if problem.Ask != "" {
		return problem.Ask
	}
	if problem.Data.Ask != "" {
		return problem.Data.Ask
	}
	_, rest, _ := strings.Cut(string(a.body), "ask_")
	return "ask_" + rest[:min(26, len(rest))]
}

// present is the person on the control socket, with the PIN.
func (a *asking) present() *client.Client {
	return client.Socket(a.s.data + "/tandem.sock").WithPIN(pin)
}

// mint makes a token with the PIN and seals secrets. A PIN whose check is cut
// off by a crash counts as a wrong one, so it is not asked for too often.
func (a *asking) mint(ctx context.Context) {
	var out struct{ Secret string }
	if err := a.present().Call(ctx, "token.new", map[string]any{"actor": "builder"}, &out); err == nil {
		a.tokens = append(a.tokens, out.Secret)
	}
	for range 20 {
		name := fmt.Sprintf("crash/%d", len(a.secrets))
		got, err := a.s.try(ctx, a.s.token, "PUT", "/secret/"+name, map[string]any{"value": "sealed " + name})
		if err != nil {
			return
		}
		if got.status/100 == 2 {
			a.secrets = append(a.secrets, name)
		}
	}
}

// unmask reads a secret back, once the pause after wrong PINs is over.
func (a *asking) unmask(name string) (string, error) {
	var out struct{ Value string }
	var err error
	testenv.Within(2*time.Minute, func() bool {
		err = a.present().Call(context.Background(), "secret.unmask", map[string]any{"name": name}, &out)
		return fault.KindOf(err) != fault.Exhausted
	})
	return out.Value, err
}

// settle finishes what was under way and checks that each call was asked once,
// decided once and done once.
func (a *asking) settle(t testing.TB) {
	t.Helper()
	for _, c := range a.asks {
		for try := 0; !c.done && try < 5; try++ {
			if err := a.advance(context.Background(), c); err != nil {
				t.Error(err)
			}
		}
	}
	seen := map[string]int{}
	for after := ""; ; {
		page := a.s.as(a.s.token, "GET", "/approval?state=all&limit=1000&after="+after, nil).json(t)
		list, _ := page["asks"].([]any)
		for _, item := range list {
			ask := item.(map[string]any)
			after = ask["id"].(string)
			seen[strings.TrimPrefix(ask["resource"].(string), "resource:/")]++
			if ask["state"] != "spent" {
				t.Errorf("%s is %s after its call was done", ask["resource"], ask["state"])
			}
		}
		if more, _ := page["more"].(bool); !more {
			break
		}
	}
	for _, c := range a.asks {
		if seen[c.key] != 1 || !c.done {
			t.Errorf("%s was asked %d times; done: %v", c.key, seen[c.key], c.done)
		}
		if got := a.s.as(a.s.token, "GET", "/resource/"+c.key, nil); got.status != http.StatusOK || got.json(t)["rev"] != float64(1) {
			t.Errorf("%s was approved and is %s", c.key, got)
		}
	}
	for _, name := range a.secrets[max(0, len(a.secrets)-30):] { // a look at one costs a check of the PIN
		if value, err := a.unmask(name); err != nil || value != "sealed "+name {
			t.Errorf("the secret %s is %q: %v", name, value, err)
		}
	}
	for _, token := range a.tokens {
		if got := a.s.as(token, "GET", "/whoami", nil); got.status != http.StatusOK {
			t.Errorf("a token that was shown does not work: %s", got)
		}
	}
}
