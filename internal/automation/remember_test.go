package automation

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/automation/hook"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

const pushes = `
name = "all"
[limits]
runs = 1000
[[trigger]]
id = "hub"
webhook = %q
[[node]]
id = "mark"
[node.operation]
name = "mark.add"
input = { text = "pushed" }
`

// captured is somebody who has messages that were signed right, and sends them again whenever they like.
type captured struct {
	*house
	scheme string
	now    *atomic.Int64
	kept   map[string]string
}

// capturing is an automation with a webhook, and a clock that the test moves.
func capturing(t *testing.T, scheme string) *captured {
	c := &captured{scheme: scheme, now: &atomic.Int64{}, kept: map[string]string{}}
	c.now.Store(time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC).UnixMicro())
	c.house = newHouseAt(t, func() time.Time { return time.UnixMicro(c.now.Load()) })
	c.withHook()
	return c
}

func (c *captured) withHook() {
	c.Seal = func(_ *db.Tx, _, name, value, _ string) error { c.kept[name] = value; return nil }
	c.Lend = func(_ context.Context, _, name string, fn func([]byte) error) error {
		if c.kept[name] == "" {
			return fault.New(fault.NotFound, "test", "there is no such secret")
		}
		return fn([]byte(c.kept[name]))
	}
	c.switchOn(fmt.Sprintf(pushes, c.scheme))
	do(c.house, wire.MakeHook, wire.MakeHookIn{Name: "all"})
}

func (c *captured) sends(mark, sender string) (wire.Delivery, error) {
	c.t.Helper()
	var id string
	c.must(c.DB.QueryRow(context.Background(), "SELECT id FROM automation_hook").Scan(&id))
	return op.Do(op.WithCaller(context.Background(), c.self("all")), c.gate, wire.Deliver, wire.DeliverIn{Name: "all", Trigger: "hub",
		Hook: id, Scheme: c.scheme, Mark: mark, Sender: sender, Body: "{}"})
}

func (c *captured) later(d time.Duration) { c.now.Add(d.Microseconds()) }

func (c *captured) rows() (n int) {
	c.t.Helper()
	c.must(c.DB.QueryRow(context.Background(), "SELECT count(*) FROM automation_delivery").Scan(&n))
	return n
}

// A captured message whose signature says no time begins no second run, however long its sender waits: its digest stays when its row is
// forgotten. It began one again after thirty days.
func TestACapturedMessageIsKnownForEver(t *testing.T) {
	for _, scheme := range []string{"github", "gitlab", "linear", "notion"} {
		t.Run(scheme, func(t *testing.T) { capturing(t, scheme).isKnown() })
	}
	t.Run("postgres", func(t *testing.T) {
		a, _, clock := fellows(t, time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC))
		c := &captured{house: a, scheme: "github", now: clock, kept: map[string]string{}}
		c.withHook()
		c.isKnown()
	})
}

func (c *captured) isKnown() {
	c.t.Helper()
	begins := func(mark, sender string, want bool) {
		c.t.Helper()
		d, err := c.sends(mark, sender)
		if c.must(err); d.Duplicate == want || want && d.Run == "" {
			c.t.Errorf("%s from %s: %+v", mark, sender, d)
		}
	}
	begins("one", "a", true)
	begins("changed", "a", false) // the same name: it is known by its row, and its text from now on
	begins("two", "b", true)
	c.later(hook.Remembered + time.Hour)
	begins("three", "c", true)
	if n := c.rows(); n != 1 {
		c.t.Errorf("%d rows are left of three", n)
	}
	begins("one", "", false)
	begins("one", "z", false)
	begins("changed", "y", false)
	begins("two", "b", false)
	begins("four", "a", c.scheme != "notion") // whose name is signed, too: with it comes another text of a message that came
	c.close()
	c.open(0) // after a restart, too
	begins("two", "x", false)
}

// What came before this was remembered, and waits in a row, is remembered when the row goes; some rows with each message.
func TestOldRowsAreRememberedAsTheyGo(t *testing.T) {
	c := capturing(t, "github")
	if _, err := c.sends("first", "s"); err != nil {
		t.Fatal(err)
	}
	const more = 3*forgotAtOnce + 7
	c.must(c.write(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO automation_delivery (tenant, id, name, hook, trigger_id, sender, mark, kind, body, run, why, at)
		SELECT tenant, id || i, name, hook, trigger_id, 's' || i, 'm' || i, kind, '', '', 'x', at FROM automation_delivery, n`, more)))
	c.later(hook.Remembered + time.Hour)
	for i := range 4 {
		if _, err := c.sends(fmt.Sprint("later", i), ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.rows(); n != 4 {
		t.Errorf("%d rows are left", n)
	}
	for i := 1; i <= more; i++ {
		if d, err := c.sends(fmt.Sprint("m", i), ""); err != nil || !d.Duplicate {
			t.Fatalf("m%d: %+v, %v", i, d, err)
		}
	}
	if h := do(c.house, wire.Hooks, wire.NameIn{Name: "all"}).Hooks[0]; h.Remembered != more+1 || h.Most != mostRemembered {
		t.Errorf("it says %+v", h)
	}
}

// One whose signature says its time needs no digest: after five minutes it is not taken.
func TestATimedMessageLeavesNothing(t *testing.T) {
	c := capturing(t, "stripe")
	for _, mark := range []string{"one", "two"} {
		if _, err := c.sends(mark, mark); err != nil {
			t.Fatal(err)
		}
		c.later(hook.Remembered + time.Hour)
	}
	if h := do(c.house, wire.Hooks, wire.NameIn{Name: "all"}).Hooks[0]; h.Remembered != 0 || h.Most != 0 || c.rows() != 1 {
		t.Errorf("it says %+v", h)
	}
}

// When there is no room to know more, nothing is taken: people are told before, and once another secret is made there is room again,
// since what was captured is not signed with it. The same secret once more makes none.
func TestAWebhookThatKnowsTooMuch(t *testing.T) {
	c := capturing(t, "github")
	do(c.house, wire.MakeHook, wire.MakeHookIn{Name: "all", Secret: "long enough"})
	var told []string
	c.Filling = func(_ *db.Tx, tenant, name, trigger string, known, most int64) error {
		told = append(told, fmt.Sprint(tenant, name, trigger, " ", known, " ", most))
		return nil
	}
	forgets := func(mark string) {
		t.Helper()
		if _, err := c.sends(mark, ""); err != nil {
			t.Fatal(err)
		}
		c.later(hook.Remembered + time.Hour)
	}
	forgets("one")
	c.must(c.write(fmt.Sprintf("UPDATE automation_hook SET remembered = %d", nearlyAll-1)))
	forgets("two")
	c.must(c.write(fmt.Sprintf("UPDATE automation_hook SET remembered = %d", mostRemembered-1)))
	forgets("three")
	if all := strings.Join(told, "; "); all != "tallhub 900000 1000000; tallhub 1000000 1000000" {
		t.Errorf("told: %s", all)
	}
	_, err := c.sends("four", "")
	if !fault.Is(err, fault.Exhausted) || !strings.Contains(fault.Public(err).Next, "tandem automation hook all hub") {
		t.Errorf("one more: %v", err)
	}
	if d, err := c.sends("one", ""); err != nil || !d.Duplicate {
		t.Errorf("one that is known: %+v, %v", d, err)
	}
	do(c.house, wire.MakeHook, wire.MakeHookIn{Name: "all", Secret: "long enough"})
	if _, err := c.sends("four", ""); !fault.Is(err, fault.Exhausted) {
		t.Errorf("with the same secret: %v", err)
	}
	do(c.house, wire.MakeHook, wire.MakeHookIn{Name: "all"})
	if d, err := c.sends("four", ""); err != nil || d.Run == "" {
		t.Errorf("with another secret: %+v, %v", d, err)
	}
	if h := do(c.house, wire.Hooks, wire.NameIn{Name: "all"}).Hooks[0]; h.Remembered > 1 { // three, whose row went with this one
		t.Errorf("it says %+v", h)
	}
}
